//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// links returns what is made out of a concert.
func (c *concert) links(t *testing.T) *workflow.Index {
	t.Helper()
	src := must.Get(bolt.Read(c.path))(t)
	defer src.Close()
	return must.Get(workflow.Read(t.Context(), src))(t)
}

// checkLinks compares inferred links with the truth. Proved links must be true. Likely links must at least belong to
// the same user, unless ids identify the cause.
func checkLinks(t *testing.T, ix *workflow.Index, all map[uint64]*performed) {
	t.Helper()
	for _, n := range slices.Sorted(maps.Keys(all)) {
		x, l := all[n], ix.Of(n)
		parent := all[l.Parent]
		switch {
		case l.Parent == 0 || l.Parent == x.parent:
		case parent == nil:
			t.Errorf("%s is under %d, which is not in the capture", x, l.Parent)
		case (x.card || l.By == workflow.InTrace || l.By == workflow.InContext) && parent.user == x.user:
			// The fetch of a card is under the call that follows; other links only show what belongs together.
		default:
			t.Errorf("%s is under %d (%v), want %d", x, l.Parent, l.By, x.parent)
		}
		if root := all[l.Workflow]; root == nil || root.user != x.user {
			t.Errorf("%s is in workflow %d, and for the user who asks in %d", x, l.Workflow, x.user)
		}
	}
}

// drawn returns the links as a tree whose lines do not depend on who was faster: without numbers, in the order of the
// lines, equal ones counted. What likely links are known by depends on what overlaps, so it is not told. Of cards it says
// nothing if cards is false. A client that was gone before its process was found has the name in its User-Agent.
func drawn(ix *workflow.Index, all map[uint64]*performed, cards bool) string {
	beneath := make(map[uint64][]uint64)
	for n, x := range all {
		if l := ix.Of(n); cards || !x.card {
			beneath[l.Parent] = append(beneath[l.Parent], n)
		}
	}
	var draw func(parent uint64, indent string) []string
	draw = func(parent uint64, indent string) []string {
		count := make(map[string]int)
		for _, n := range beneath[parent] {
			x := all[n]
			client := x.Client.Name
			if x.Client.How == capture.ByUnseen {
				client, _, _ = strings.Cut(x.header("User-Agent"), "/")
			}
			line := fmt.Sprintf("%s%s → %s %s", indent, client, x.Agent.Name, x.Operation)
			if l := ix.Of(n); l.By.Certain() {
				line += fmt.Sprintf(" = %s", l.By)
			} else if l.Parent > 0 {
				line += " ~"
			}
			count[strings.Join(append([]string{line}, draw(n, indent+"  ")...), "\n")]++
		}
		var lines []string
		for _, tree := range slices.Sorted(maps.Keys(count)) {
			if count[tree] > 1 {
				first, rest, more := strings.Cut(tree, "\n")
				tree = fmt.Sprintf("%s ×%d", first, count[tree])
				if more {
					tree += "\n" + rest
				}
			}
			lines = append(lines, tree)
		}
		return lines
	}
	return strings.Join(draw(0, ""), "\n") + "\n"
}

// checkDrawn compares links with the golden file of a concert, whatever SDKs play it.
func checkDrawn(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "orchestra", strings.ReplaceAll(name, " ", "-")+".txt")
	if os.Getenv("UPDATE_ORCHESTRA") != "" {
		must.Do(t, os.WriteFile(file, []byte(got), 0o600))
		return
	}
	want := must.Get(os.ReadFile(file))(t)
	expect.Same(t, "what belongs together", string(want), got)
}
