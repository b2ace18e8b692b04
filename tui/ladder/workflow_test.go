package ladder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/track/workflow"
	"a2atap/tui/load"
)

// A tree has each exchange once, whatever the links: a card before its call, causes that are not shown, and chains.
func TestTree(t *testing.T) {
	rows := make(map[uint64]load.Entry)
	links := []workflow.Link{
		{Exchange: 1, Parent: 2, By: workflow.Prelude},
		{Exchange: 2},
		{Exchange: 3, Parent: 2, By: workflow.ByTrace},
		{Exchange: 4, Parent: 3, By: workflow.Nested},
		{Exchange: 5, Parent: 99, By: workflow.ByTrace},
	}
	for _, l := range links {
		rows[l.Exchange] = load.Entry{Seq: l.Exchange}
	}
	var got []string
	for _, b := range tree(links, rows) {
		got = append(got, strings.TrimRight(fmt.Sprint(b.stem, b.Seq, " ", b.inferred()), " "))
	}
	want := []string{
		"2", "├─ 1 inferred: " + workflow.Prelude.String(), "└─ 3", "   └─ 4 inferred: " + workflow.Nested.String(), "5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
