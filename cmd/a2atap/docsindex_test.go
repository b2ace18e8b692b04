package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// Each page stands in the index, and what a page leads to is there.
func TestDocsIndex(t *testing.T) {
	t.Parallel()
	const docs = "../../docs"
	index := must.Get(os.ReadFile(filepath.Join(docs, "README.md")))(t)
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	for _, page := range append(pages, "../../README.md") {
		name := filepath.Base(page)
		if name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
		text := must.Get(os.ReadFile(page))(t)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s leads to %s, which is not there", name, m[1])
			}
		}
	}
}
