package rules_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/rulestest"
)

// What is found in traffic of the SDKs and frameworks of others was read on the wire, and the head of its transcript
// says why it is right.
func TestWildIsExplained(t *testing.T) {
	t.Parallel()
	for _, path := range rulestest.Names(t) {
		if !strings.HasPrefix(path, "wild/") {
			continue
		}
		head := rulestest.Parse(t, path).Comment
		for _, f := range rulestest.FindingsIn(t, path) {
			if !strings.Contains(head, f.Rule.ID) {
				t.Errorf("%s: the head does not say why %s is right: %s", path, f.Rule.ID, f.Message())
			}
		}
	}
}
