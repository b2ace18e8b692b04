package workflow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestIndex(t *testing.T) {
	ix := &workflow.Index{}
	for _, l := range []workflow.Link{
		{Exchange: 1},
		{Exchange: 2, Parent: 1, By: workflow.ByTask},
		{Exchange: 4},
		{Exchange: 5, Parent: 4, By: workflow.Nested},
	} {
		ix.Put(l)
	}
	expect.Equal(t, "5", workflow.Link{Exchange: 5, Workflow: 4, Parent: 4, By: workflow.Nested}, ix.Of(5))
	expect.Equal(t, "what nobody told of", workflow.Link{Exchange: 3, Workflow: 3}, ix.Of(3))
	if got := ix.Of(99); got.Workflow != 99 || ix.Size(99) != 1 {
		t.Errorf("what is not there is %+v", got)
	}
	expect.Equal(t, "exchanges of 4", 2, ix.Size(4))
	ix.Put(workflow.Link{Exchange: 4, Parent: 2, By: workflow.ByContext}) // as it turns out
	expect.Equal(t, "after its parent was put under another one 5 is", 1, ix.Of(5).Workflow)
	if ix.Size(1) != 4 || ix.Size(4) != 1 {
		t.Errorf("sizes: %d and %d", ix.Size(1), ix.Size(4))
	}
	ix.Put(workflow.Link{Exchange: 6, Parent: 5, By: workflow.ByTask})
	list, all := ix.Exchanges(1, 4)
	if diff := cmp.Diff([]uint64{1, 2, 4, 5}, list); diff != "" || all != 5 {
		t.Errorf("exchanges of 1 (-want +got):\n%s%d in all", diff, all)
	}
}

// The index built while the steps come equals the index of the whole capture, wherever the capture ends.
func TestReadIsWhatWasTold(t *testing.T) {
	for _, tt := range stories {
		steps := play(t, tt.story)
		memory := capture.NewMemory(capture.Info{})
		must.Do(t, memory.Append(steps...))
		live := &workflow.Index{}
		e := engine.New(nil, workflow.Into(live.Put)...)
		last := uint64(0)
		for _, s := range steps {
			e.Step(s)
			last = max(last, s.Seq)
		}
		read := must.Get(workflow.Read(context.Background(), memory))(t)
		for n := uint64(1); n <= last; n++ {
			if live.Of(n) != read.Of(n) {
				t.Errorf("%s: %d: told %+v, read %+v", tt.name, n, live.Of(n), read.Of(n))
			}
		}
	}
}

// Whoever forges ids, names and contents so that everything has everything in common costs no more for each exchange
// than others.
func TestForgedIDs(t *testing.T) {
	story := func(n int) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&b, "%d evil>evil send trace=a/%d context=c task=t ref=t text=what_everybody_writes\n", i, i%9+1)
			if i%2 == 0 {
				fmt.Fprintf(&b, "%d answer task=t context=c state=working\n", i)
			}
		}
		return b.String()
	}
	cost := func(n int) float64 {
		steps := play(t, story(n))
		return testing.AllocsPerRun(1, func() {
			e := engine.New(nil, workflow.Into(func(workflow.Link) {})...)
			for _, s := range steps {
				e.Step(s)
			}
		}) / float64(n)
	}
	if few, many := cost(300), cost(3000); many > 2*few {
		t.Errorf("an exchange costs %.0f allocations among 300, and %.0f among 3000", few, many)
	}
}

// The depth of a workflow is bounded, and so is the cost of following it.
func TestDeepLoops(t *testing.T) {
	var b strings.Builder
	names := []string{"a", "b"}
	for i := 1; i <= 500; i++ {
		fmt.Fprintf(&b, "%d %s>%s send trace=a/%d\n", i, names[i%2], names[(i+1)%2], i%9+1)
	}
	expect.Equal(t, "links", 500, len(linksOf(t, b.String())))
}

// The first exchange of a workflow belongs to it even if it was not reported: a card fetch before a call is reported
// when the call is not.
func TestIndexOfWhatWasNotTold(t *testing.T) {
	var ix workflow.Index
	check := func(root uint64, want ...uint64) {
		t.Helper()
		list, all := ix.Exchanges(root, 9)
		if !slices.Equal(list, want) || all != len(want) || ix.Size(root) != len(want) {
			t.Errorf("workflow %d has %v, %d in all, size %d; want %v", root, list, all, ix.Size(root), want)
		}
	}
	ix.Put(workflow.Link{Exchange: 1, Parent: 2})
	check(2, 1, 2)
	ix.Put(workflow.Link{Exchange: 5, Parent: 6})
	check(2, 1, 2)
	check(6, 5, 6)
	check(3, 3)
	check(9, 9)
}
