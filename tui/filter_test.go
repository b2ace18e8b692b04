package tui

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/tuitest"
)

// A user looks at one workflow in the list, alone and together with other words.
func TestFilterByWorkflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, trip(t).Reader(), 100, 30, Options{})
		for _, c := range []struct {
			expr string
			want []uint64
		}{
			{"workflow:1", []uint64{1, 2, 3, 5}},
			{"workflow:1 agent:hotel", []uint64{2}},
			{"workflow:2", nil},
			{"-workflow:1", []uint64{4}},
			{"workflow:>3 or agent:payer", []uint64{3, 4}},
		} {
			u.press("/", "ctrl+u").typed(c.expr).press("enter")
			expect.Same(t, c.expr, c.want, append([]uint64(nil), u.matches()...))
		}
	})
}

// The filter chooses more as more is known of what caused what, and less where something else shows to have caused it.
func TestFilterByWorkflowFollowsLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := trip(t)
		r := judgingOf(t, m, nil)
		u := newUI(t, m.Reader(), 100, 30, Options{View: r.view(nil), Filter: "workflow:1"})
		sees := func(when string, want ...uint64) {
			t.Helper()
			u.pass(5 * time.Second)
			expect.Same(t, when, want, u.matches())
		}
		sees("before anything is known", 1)
		r.link(
			workflow.Link{Exchange: 2, Parent: 1, By: workflow.ByTrace}, workflow.Link{Exchange: 3},
			workflow.Link{Exchange: 4}, workflow.Link{Exchange: 5},
		)
		sees("of two", 1, 2)
		r.link(
			workflow.Link{Exchange: 3, Parent: 2, By: workflow.Nested}, workflow.Link{Exchange: 4, Parent: 1, By: workflow.Nested},
			workflow.Link{Exchange: 5, Parent: 2, By: workflow.ByTrace},
		)
		sees("of all", 1, 2, 3, 4, 5)
		r.link(workflow.Link{Exchange: 4}, workflow.Link{Exchange: 2})
		sees("when 2 and what it has caused is another workflow", 1)
		tuitest.Record(t, m, sent(6, "traveller", "planner", parent(1, 9)))
		r.link(workflow.Link{Exchange: 6, Parent: 1, By: workflow.ByTrace})
		sees("of a new one", 1, 6)
	})
}

// Of many exchanges only those of the workflow are read.
func TestFilterByWorkflowReadsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 5_000
		m := capture.NewMemory(capture.Info{Name: "many.a2atap"})
		var links []workflow.Link
		for n := uint64(1); n <= many; n++ {
			tuitest.Record(t, m, tuitest.Call(n, fmt.Sprint("t-", n), "TASK_STATE_WORKING"))
			if n%1000 == 0 {
				links = append(links, workflow.Link{Exchange: n, Parent: 7, By: workflow.ByTrace})
			}
		}
		r := judgingOf(t, m, nil)
		r.link(links...)
		src := &readOnce{Source: m.Reader()}
		u := newUI(t, src, 100, 30, Options{View: viewOf(src, openReading(t, r.shelf, rules.All), nil), Filter: "workflow:7"})
		u.lists(7, 1000, 2000, 3000, 4000, 5000)
		expect.Equal(t, "exchanges that are read for six matches", 0, src.whole.Load())
	})
}

// A readOnce counts the exchanges that are read as a whole, one by one.
type readOnce struct {
	capture.Source
	whole atomic.Int64
}

func (r *readOnce) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	r.whole.Add(1)
	return r.Source.Exchange(ctx, seq)
}
