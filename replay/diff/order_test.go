package diff_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/diff"
)

// talk is one client's traffic about one task: a send, one or more polls, a get, a cancel of the ended task.
func talk(s *session, client string, n, polls int, what string) []func() {
	id := fmt.Sprintf("task-%d", n)
	steps := []func(){func() {
		s.ask(client, "SendMessage", message(fmt.Sprintf("m-%d", n), what, `"metadata":{"x":1}`), made(id, "SUBMITTED"))
	}}
	for range polls {
		steps = append(steps, func() { s.ask(client, "GetTask", about(id), task(id, "WORKING")) })
	}
	return append(steps,
		func() { s.ask(client, "GetTask", about(id), task(id, "COMPLETED")) },
		func() { s.ask(client, "CancelTask", about(id), task(id, "COMPLETED")) },
	)
}

// interleaved interleaves talks in an order that the seed chooses. Ids are numbered in the order of the sends.
func interleaved(seed uint64) []*capture.Exchange {
	r := rand.New(rand.NewPCG(seed, 1))
	s := newSession()
	var talks [][]func()
	for i := range 8 {
		n := int(seed)*10 + i
		client := []string{"cli", "planner"}[i%2]
		talks = append(talks, talk(s, client, n, r.IntN(4), []string{"two seats", "a table", "a room"}[i%3]))
	}
	for len(talks) > 0 {
		i := r.IntN(len(talks))
		talks[i][0]()
		if talks[i] = talks[i][1:]; len(talks[i]) == 0 {
			talks = append(talks[:i], talks[i+1:]...)
		}
	}
	return s.exchanges
}

// Neither the order of concurrent tasks nor the number of polls is a difference.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	was := interleaved(0)
	for seed := range uint64(40) {
		r := run(t, was, interleaved(seed), diff.Options{})
		if !r.Same() {
			t.Errorf("order %d: %s\n%s", seed, r.Verdict(), strings.Join(told(r), "\n"))
		}
	}
}

// One missing exchange is one difference, whichever it is, also if the order differs.
func TestOneIsMissing(t *testing.T) {
	t.Parallel()
	was := interleaved(0)
	for i := range was {
		now := interleaved(3)
		if i >= len(now) || strings.Contains(string(now[i].Response.Body.Data), "WORKING") {
			continue // the number of polls is ignored
		}
		gone := now[i]
		now = append(now[:i], now[i+1:]...)
		r := run(t, was, now, diff.Options{})
		if len(r.Differences) != 1 || r.Missing+r.Differing != 1 { // without the last poll, an earlier one is the last
			t.Errorf("without exchange %d, %s: %s\n%s", gone.Seq, gone.Request.Body.Data, r.Verdict(),
				strings.Join(told(r), "\n"))
		}
	}
}

// Concurrent calls of one client begin in any order.
func TestOverlappingCalls(t *testing.T) {
	t.Parallel()
	at := func(first, second string) []*capture.Exchange {
		s := newSession()
		s.ask("cli", "SendMessage", message("m-1", "two seats"), made("task-1", "COMPLETED"))
		for _, method := range []string{first, second} {
			x := s.ask("cli", method, about("task-1"), task("task-1", "COMPLETED"))
			x.Ended = time.Second
		}
		return s.exchanges
	}
	if r := run(t, at("GetTask", "CancelTask"), at("CancelTask", "GetTask"), diff.Options{}); !r.Same() {
		t.Errorf("%s\n%s", r.Verdict(), strings.Join(told(r), "\n"))
	}
	apart := func(xs []*capture.Exchange) []*capture.Exchange {
		for _, x := range xs {
			x.Ended = time.Microsecond
		}
		return xs
	}
	r := run(t, apart(at("GetTask", "CancelTask")), apart(at("CancelTask", "GetTask")), diff.Options{})
	if r.Missing != 1 || r.New != 1 {
		t.Errorf("one after the other: %s", r.Verdict())
	}
}

// A single agent, and a single client, match under any name; others match by name.
func TestNames(t *testing.T) {
	t.Parallel()
	called := func(agent, client string) []*capture.Exchange {
		xs := workflow()
		for _, x := range xs {
			x.Agent.Name, x.Client.Name = agent, client
		}
		return xs
	}
	if r := run(t, workflow(), called("v2", "python"), diff.Options{}); !r.Same() {
		t.Errorf("%s", r.Verdict())
	}
	two := func(other string) []*capture.Exchange {
		xs := called("booker", "cli")
		for i, x := range workflow() {
			x.Seq, x.Agent.Name = uint64(len(xs)+1), other
			if i%2 == 0 {
				x.Agent.Name += "2"
			}
			xs = append(xs, x)
		}
		return xs
	}
	if r := run(t, two("hotel"), two("inn"), diff.Options{}); r.Same() || r.Missing != 7 || r.New != 7 ||
		!strings.Contains(strings.Join(r.Notes, "\n"), "--agent") {
		t.Errorf("two agents with other names: %s %q", r.Verdict(), r.Notes)
	}
	o := diff.Options{Agents: map[string]string{"hotel": "inn", "hotel2": "inn2"}}
	if r := run(t, two("hotel"), two("inn"), o); !r.Same() {
		t.Errorf("agents that are said to be the same: %s", r.Verdict())
	}
}

// Traffic of one agent in two bindings, or of two lines of an SDK in two dialects, is compared by meaning.
func TestByMeaning(t *testing.T) {
	t.Parallel()
	const now = "go2-go210-jsonrpc"
	for _, was := range []string{"go2-go210-rest", "go03-go0303-jsonrpc"} {
		a, b := rulestest.Exchanges(t, "wild/"+was), rulestest.Exchanges(t, "wild/"+now)
		r := run(t, a, b, diff.Options{})
		if r.ByMeaning < 15 || r.Matched < 15 || !strings.Contains(r.Verdict(), "compared by meaning") {
			t.Errorf("%s and %s: %s", was, now, r.Verdict())
		}
		lines := map[uint64]string{}
		for _, l := range r.Lines {
			lines[l.Exchange] = l.Operation
		}
		for i := range r.Differences {
			d := &r.Differences[i]
			op := lines[d.Exchange]
			if d.Exchange > 0 && d.Live > 0 && !strings.Contains(op, "Push") && op != "GetAgentCard" {
				t.Errorf("%s and %s: %s: %s", was, now, op, d)
			}
		}
		// A planted change is still found.
		for _, x := range b {
			edit(x, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("STATE_CANCELED"), []byte("STATE_FAILED")) })
		}
		expect.Contains(t, was+" and "+now+", where a task failed",
			"the state is failed, recorded canceled", strings.Join(told(run(t, a, b, diff.Options{})), "\n"))
	}
}

// notified is a workflow in which the webhook of task-1 receives its states.
func notified(t *testing.T, states ...string) []*capture.Exchange {
	t.Helper()
	xs := workflow()
	for _, state := range states {
		tr, err := transcript.Parse("hook", fmt.Appendf(nil, "-- %d.request --\nPOST /hook HTTP/1.1\nHost: hook.example\n"+
			"Content-Type: application/a2a+json\n\n%s\n-- %[1]d.response --\nHTTP/1.1 204 No Content\n\n",
			len(xs)+1, update("task-1", state)))
		must.Do(t, err)
		x := tr.Exchanges[0]
		x.Client.Name, x.Agent.Name, x.Started = "booker", "cli", xs[len(xs)-1].Started.Add(time.Second)
		xs = append(xs, x)
	}
	return xs
}

// The order of a task's notifications is ignored; a missing or new one is a difference.
func TestNotifications(t *testing.T) {
	t.Parallel()
	was := notified(t, "WORKING", "COMPLETED")
	if r := run(t, was, notified(t, "COMPLETED", "WORKING"), diff.Options{}); !r.Same() || r.Deliveries.Received != 2 {
		t.Errorf("in another order: %s\n%s", r.Verdict(), strings.Join(told(r), "\n"))
	}
	for _, now := range [][]string{
		{"WORKING"}, {"WORKING", "COMPLETED", "COMPLETED"}, {"WORKING", "COMPLETED", "FAILED"},
	} {
		r := run(t, was, notified(t, now...), diff.Options{})
		if got := strings.Join(kinds(r), ", "); got != "+0 delivery" {
			t.Errorf("%v: found %q:\n%s", now, got, strings.Join(told(r), "\n"))
		}
	}
}

// Comparing nothing with nothing proves nothing, and traffic other than A2A is left out.
func TestNothing(t *testing.T) {
	t.Parallel()
	if r := run(t, nil, nil, diff.Options{}); r.Same() || !strings.Contains(r.Verdict(), "nothing was compared") {
		t.Errorf("%s", r.Verdict())
	}
	other := func() []*capture.Exchange {
		xs := workflow()
		edit(xs[0], func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "SendMessage", "tools/list")) })
		return xs
	}
	if r := run(t, other(), other(), diff.Options{}); len(r.Differences) > 0 {
		t.Errorf("%s: %v", r.Verdict(), told(r))
	}
}

// lossy is a capture with a gap.
type lossy struct {
	capture.Source
	lost    int64
	crashes uint64
}

func (l lossy) Info(ctx context.Context) (capture.Info, error) {
	info, err := l.Source.Info(ctx)
	info.LostExchanges, info.Crashes = l.lost, l.crashes
	return info, err
}

// A capture with a gap proves nothing.
func TestLoss(t *testing.T) {
	t.Parallel()
	for _, l := range []lossy{{lost: 2}, {crashes: 1}} {
		l.Source = source(t, workflow())
		for _, pair := range [][2]capture.Source{{l, source(t, workflow())}, {source(t, workflow()), l}} {
			r := must.Get(diff.Run(t.Context(), pair[0], pair[1], diff.Options{}))(t)
			if r.Same() || len(r.Differences) > 0 || !strings.Contains(r.Verdict(), "incomplete") {
				t.Errorf("%d lost, %d crashes: %s", l.lost, l.crashes, r.Verdict())
			}
		}
	}
}
