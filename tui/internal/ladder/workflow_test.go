package ladder

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/expect"
)

// A tree has each exchange once, whatever the links: a card before its call, causes that are not shown, and chains.
func TestTree(t *testing.T) {
	links := []workflow.Link{
		{Exchange: 1, Parent: 2, By: workflow.Prelude},
		{Exchange: 2},
		{Exchange: 3, Parent: 2, By: workflow.ByTrace},
		{Exchange: 4, Parent: 3, By: workflow.Nested},
		{Exchange: 5, Parent: 99, By: workflow.ByTrace},
	}
	var got []string
	for _, l := range workflow.Tree(links) {
		b := branch{Branch: l}
		got = append(got, strings.TrimRight(fmt.Sprint(b.Stem, b.Exchange, " ", b.inferred()), " "))
	}
	want := []string{
		"2", "├─ 1 inferred: " + workflow.Prelude.String(), "└─ 3", "   └─ 4 inferred: " + workflow.Nested.String(), "5",
	}
	expect.Same(t, "", want, got)
}

// What may belong to a workflow and is not in it is found from its exchanges, whichever of them it is that
// comes into question; what is in it already is not.
func TestMayBelong(t *testing.T) {
	ix := &workflow.Index{}
	for _, l := range []workflow.Link{
		{Exchange: 1},
		{Exchange: 2},
		{Exchange: 3, Parent: 1, By: workflow.Nested},
		{Exchange: 4, By: workflow.Unknown, Maybe: workflow.Choice{First: [4]uint64{1, 2}}},
		{Exchange: 5, By: workflow.Unknown, Maybe: workflow.Choice{First: [4]uint64{2, 3}}},
		{Exchange: 6, By: workflow.Unknown},
	} {
		ix.Put(l)
	}
	for root, want := range map[uint64]string{1: "[4 5]", 2: "[4 5]", 4: "[]", 6: "[]"} {
		seqs, _ := ix.Exchanges(root, 10)
		expect.Equal(t, fmt.Sprintf("to %d may belong", root), want, fmt.Sprint(mayBelong(ix, seqs)))
	}
	ix.Put(workflow.Link{Exchange: 5, Parent: 2, By: workflow.ByTask}) // more is known of it
	if got := fmt.Sprint(mayBelong(ix, []uint64{1, 3}), firstOf([]uint64{1, 2, 3, 4, 5, 6})); got != "[4]1, 2, 3, 4, …" {
		t.Errorf("got %s", got)
	}
}
