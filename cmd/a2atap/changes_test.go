package main

import (
	"os"
	"regexp"
	"testing"
)

// Each page of what has changed has a number of its own.
func TestNumbersOfChanges(t *testing.T) {
	pages, err := os.ReadDir("../../docs/changes")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
	taken := make(map[string]string)
	for _, page := range pages {
		m := named.FindStringSubmatch(page.Name())
		if m == nil {
			t.Errorf("%s: want a name such as 0001-first-recording.md", page.Name())
			continue
		}
		if other := taken[m[1]]; other != "" {
			t.Errorf("%s and %s have the same number; give the newer one the next that is free", other, page.Name())
		}
		taken[m[1]] = page.Name()
	}
	if len(taken) == 0 {
		t.Error("there are no pages")
	}
}
