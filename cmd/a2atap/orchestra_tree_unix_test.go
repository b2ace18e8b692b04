//go:build unix

package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"a2atap/analyzer/track/workflow"
)

// treeText matches a line of show --format tree: a stem of box-drawing characters, the number of an exchange, its
// description, and the evidence for its position if that is not proved.
var treeText = regexp.MustCompile(`^([│├└─ ]*)(\d+) +(.*?)(?: \(inferred: (.*)\))?$`)

// checkTree demands that the tree that show prints has the same links, each exchange once.
func checkTree(t *testing.T, c *concert, ix *workflow.Index, all map[uint64]*performed) {
	t.Helper()
	shown := runForOutput(t, "show", c.path, "--format", "tree")
	seen := make(map[uint64]bool)
	var above []uint64 // the exchanges whose branch it is, from the first column on
	for line := range strings.Lines(shown) {
		m := treeText.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			t.Fatalf("no line of a tree: %q", line)
		}
		depth := utf8.RuneCountInString(m[1]) / 3
		n, _ := strconv.ParseUint(m[2], 10, 64)
		x, l, parent := all[n], ix.Of(n), uint64(0)
		if x == nil || seen[n] || depth > len(above) {
			t.Fatalf("not a tree of the exchanges, at %q:\n%s", line, shown)
		}
		seen[n] = true
		above = append(above[:depth], n)
		if depth > 0 {
			parent = above[depth-1]
		}
		reason := ""
		if l.Parent > 0 && !l.By.Certain() {
			reason = l.By.String()
		}
		if parent != l.Parent || m[4] != reason {
			t.Errorf("%s is drawn under %d, %q; want %d, %q", x, parent, m[4], l.Parent, reason)
		}
		if doubt := l.Doubt(); doubt != "" && !strings.HasSuffix(m[3], " ("+doubt+")") {
			t.Errorf("%s is drawn as %q, want %q", x, line, doubt)
		}
		if !strings.HasPrefix(m[3], x.Client.Name+" → "+x.Agent.Name+" ") || !strings.Contains(m[3], " "+x.Operation+" ") {
			t.Errorf("%s is drawn as %q", x, line)
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d of %d exchanges are drawn:\n%s", len(seen), len(all), shown)
	}
}
