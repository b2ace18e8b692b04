package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// The page about security names a test for each of the 21 attacks, and each test that it names is there.
func TestAttacksHaveTests(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/security.md"))(t)
	_, section, _ := strings.Cut(string(page), "\n## Attacks")
	section, _, _ = strings.Cut(section, "\n## ")
	named := regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Benchmark)[A-Za-z0-9]+)`")
	sources := make(map[string]string)
	for _, test := range named.FindAllStringSubmatch(section, -1) {
		folder, name := test[1], test[2]
		if sources[folder] == "" {
			sources[folder] = testSource(t, filepath.Join("../..", folder))
		}
		if !strings.Contains(sources[folder], "\nfunc "+name+"(") {
			t.Errorf("%s has no test %s", folder, name)
		}
	}
	for _, script := range regexp.MustCompile("`([a-z-]+\\.txtar)`").FindAllStringSubmatch(section, -1) {
		if _, err := os.Stat(filepath.Join("testdata/script", script[1])); err != nil {
			t.Error(err)
		}
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \|.*$`).FindAllStringSubmatch(section, -1)
	for i, row := range rows {
		if row[1] != fmt.Sprint(i+1) || !named.MatchString(row[0]) {
			t.Errorf("row %d names no test: %s", i+1, row[0])
		}
	}
	if len(rows) != 21 {
		t.Errorf("%d attacks, want 21", len(rows))
	}
}

// testSource returns the tests of a package.
func testSource(t *testing.T, folder string) string {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(folder, "*_test.go")))(t)
	var all strings.Builder
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		all.Write(text)
	}
	return all.String()
}
