package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestShowLate(t *testing.T) {
	for _, path := range strings.Fields(os.Getenv("SHOW")) {
		ex, before := cardsLast(parse(t, filepath.Join("testdata", path)).Exchanges)
		t.Logf("== %s %v", path, before)
		for _, f := range judgeFile(t, path) {
			t.Logf("  first: %v %s also %v", f.Severity, f.String(), f.Also)
		}
		for _, f := range judge(t, ex) {
			t.Logf("  late : %v %s also %v", f.Severity, f.String(), f.Also)
		}
	}
}
