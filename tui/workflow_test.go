package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/tuitest"
)

// sent returns the steps of a request to do something.
func sent(seq uint64, client, agent, traceparent string) []capture.Step {
	steps := tuitest.Asked(seq,
		"POST /a2a HTTP/1.1\r\nHost: "+agent+".example\r\nA2A-Version: 1.0\r\nTraceparent: "+traceparent+
			"\r\nContent-Type: application/json\r\n\r\n",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SendMessage","params":{"message":`+
			`{"messageId":"m-%[1]d","role":"ROLE_USER","parts":[{"text":"part %[1]d of a trip"}]}}}`, seq))
	opened := steps[0].What.(capture.Opened)
	opened.Client.Name = client
	opened.Agent = capture.Peer{Name: agent, URL: "http://" + agent + ".example/a2a"}
	steps[0].What = opened
	return steps
}

func parent(trace byte, span uint64) string { return fmt.Sprintf("00-%032x-%016x-01", trace, span) }

// done returns the steps of the answer.
func done(seq uint64, task string) []capture.Step {
	return tuitest.Answered(seq, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"task":{"id":%q,"contextId":"c-%s",`+
		`"status":{"state":"TASK_STATE_COMPLETED"}}}}`, seq, task, task))
}

// trip returns the exchanges of a planner that serves a traveller. It calls a hotel, in the same trace. The hotel calls
// a payer, which the trace does not show. In parallel, another client calls the hotel.
func trip(t *testing.T) *capture.Memory {
	t.Helper()
	m := capture.NewMemory(capture.Info{Name: "trip.a2atap"})
	tuitest.Record(t, m, sent(1, "traveller", "planner", parent(1, 1)))
	tuitest.Record(t, m, sent(2, "planner", "hotel", parent(1, 2)))
	tuitest.Record(t, m, sent(3, "hotel", "payer", parent(7, 1)))
	tuitest.Record(t, m, done(3, "paid"))
	tuitest.Record(t, m, sent(4, "stranger", "hotel", parent(9, 1)))
	tuitest.Record(t, m, done(2, "room"))
	tuitest.Record(t, m, sent(5, "planner", "flight", parent(1, 3)))
	tuitest.Record(t, m, done(5, "seat"))
	tuitest.Record(t, m, done(4, "other"))
	tuitest.Record(t, m, done(1, "trip"))
	return m
}

// selectable returns the exchanges that the top panel has, from its first line to its last.
func (u *ui) selectable() (seqs []uint64) {
	top := u.m.top()
	u.run(top.Update(keys.Top))
	for {
		seq := top.Target().Exchange
		if len(seqs) > 0 && seqs[len(seqs)-1] == seq {
			return seqs
		}
		seqs = append(seqs, seq)
		u.run(top.Update(keys.Down))
	}
}

func TestWorkflowFrames(t *testing.T) {
	for _, s := range []state{
		{"workflow", medium, []string{"g", "j", "W"}},
		{"workflow-tree", narrow, []string{"g", "j", "W", "tab", "j"}},
		{"workflow-waterfall", medium, []string{"g", "j", "W", "tab", "tab", "j"}},
		{"help-workflow", medium, []string{"g", "W", "?"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := trip(t)
				end(t, m)
				u := newUI(t, m, s.size.width, s.size.height, Options{})
				u.follow(s.keys)
				u.isKept(s.name)
			})
		})
	}
}

// The workflow opens from every panel in which an exchange is selected, shows no other exchange, and leads back.
func TestWorkflowOpensAnywhere(t *testing.T) {
	for _, way := range []string{"", "enter", "l"} {
		synctest.Test(t, func(t *testing.T) {
			u := newUI(t, trip(t).Reader(), 120, 30, Options{})
			u.press("g", "j", "j").press(strings.Fields(way)...)
			before := u.m.top().Scope()
			u.press("W")
			u.sees("› workflow of 1", "4 exchanges")
			u.isAt(3)
			u.press("W")
			u.sees("W: this is the workflow")
			u.press("tab")
			u.sees(">  │  └─ 3") // of the tree
			expect.Same(t, "the workflow has", []uint64{1, 2, 3, 5}, u.selectable())
			u.press("g", "j", "j", "enter")
			if d, is := u.m.top().(*detail.Panel); !is || d.Seq != 3 {
				t.Errorf("enter on 3 opens\n%s", u.screen())
			}
			u.press("esc", "esc")
			expect.Equal(t, "back leads to panel", before, u.m.top().Scope())
		})
	}
}

// Keys that are pressed before the workflow is there are performed when it is.
func TestWorkflowKeysInAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, trip(t).Reader(), 120, 30, Options{})
		u.press("g")
		for _, k := range []string{"W", "tab", "j", "j"} {
			u.strike(k)
		}
		u.pass(time.Second)
		if got := u.m.top().Target().Exchange; got != 3 || !strings.Contains(u.screen(), "└─ 3") {
			t.Errorf("the cursor is at %d, want 3, of the tree:\n%s", got, u.screen())
		}
	})
}

// A workflow grows while it is looked at, and what is not part of it changes nothing.
func TestWorkflowGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capture.NewMemory(capture.Info{Name: "live.a2atap"})
		tuitest.Record(t, m, sent(1, "traveller", "planner", parent(1, 1)))
		u := newUI(t, m.Reader(), 120, 30, Options{})
		u.press("g", "W")
		u.sees("  1 exchange\n")
		tuitest.Record(t, m, sent(2, "planner", "hotel", parent(1, 2)))
		u.pass(10 * time.Second)
		u.sees("2 exchanges", "hotel")
		u.press("G")
		at := u.cursorLine()
		tuitest.Record(t, m, sent(3, "stranger", "hotel", parent(9, 1)))
		tuitest.Record(t, m, done(3, "other"))
		u.pass(10 * time.Second)
		if got := u.cursorLine(); got != at || strings.Contains(u.screen(), "stranger") {
			t.Errorf("the cursor went from %q to %q:\n%s", at, got, u.screen())
		}
		tuitest.Record(t, m, done(2, "room"))
		u.pass(10 * time.Second)
		u.sees("200 room completed")
	})
}

// Where a recorder judges, the links come from there; until they do, the panel says what it waits for.
func TestWorkflowOfARecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := judgingOf(t, trip(t), rules.All)
		u := newUI(t, r.m.Reader(), 120, 30, Options{View: r.view(nil)})
		u.press("g", "j", "W")
		u.sees("causes are still being read")
		r.judge()
		u.pass(10 * time.Second)
		u.sees("› workflow of 1", "  4 exchanges\n")
	})
}

// An exchange whose request has not come yet is not said to be alone.
func TestWorkflowOfUnfinishedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capture.NewMemory(capture.Info{Name: "live.a2atap"})
		steps := sent(1, "traveller", "planner", parent(1, 1))
		tuitest.Record(t, m, steps[:1])
		u := newUI(t, m.Reader(), 120, 30, Options{})
		u.press("g", "W")
		u.sees("known once its request has been read")
		tuitest.Record(t, m, steps[1:])
		u.pass(10 * time.Second)
		u.sees("workflow of 1")
	})
}

// Of a workflow with very many exchanges, the panel shows the first, and reports the limit.
func TestWorkflowOfManyExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 10_000
		m := capture.NewMemory(capture.Info{Name: "many.a2atap"})
		var links []workflow.Link
		for n := uint64(1); n <= many; n++ {
			tuitest.Record(t, m, tuitest.Call(n, "t-1", "TASK_STATE_WORKING"))
			if n > 1 {
				links = append(links, workflow.Link{Exchange: n, Parent: 1, By: workflow.ByTask})
			}
		}
		r := judgingOf(t, m, nil)
		r.link(links...)
		u := newUI(t, m.Reader(), 140, 30, Options{View: r.view(nil)})
		u.press("g", "W")
		u.sees("the first 1,000 of 10,000 exchanges")
		u.press("tab")
		if got := u.selectable(); len(got) != 1000 || got[0] != 1 || got[999] != 1000 {
			t.Errorf("the tree has %d exchanges", len(got))
		}
		u.press("esc", "G", "W")
		u.sees("the first 1,000 of 10,000; 10000 is not included")
	})
}
