package analyzer_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

func TestOneCauseOneFinding(t *testing.T) {
	inside := func(p analyzer.Place) analyzer.Place { return p.At("/result/task") }
	tests := []struct {
		name         string
		outer, inner func(analyzer.Place) analyzer.Place
		merged       bool
	}{
		{"same place", here, here, true},
		{"inside the body", here, inside, true},
		{"inside a value", inside, func(p analyzer.Place) analyzer.Place { return p.At("/result/task/status") }, true},
		{"same value", inside, inside, true},
		{"around it", inside, here, false},
		{"beside it", inside, func(p analyzer.Place) analyzer.Place { return p.At("/result/tasks") }, false},
		{"the head, not the body", func(p analyzer.Place) analyzer.Place { return p.Status() }, here, false},
		{"the whole answer", func(p analyzer.Place) analyzer.Place { return analyzer.Place{Exchange: p.Exchange, Response: true} }, here, true},
		{"another exchange", here, func(p analyzer.Place) analyzer.Place { p.Exchange++; return p }, false},
		{"the request", here, func(p analyzer.Place) analyzer.Place { p.Response = false; return p }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			outer := stub("outer", analyzer.AnswerSeen, at(test.outer))
			outer.Covers = []string{"inner"}
			c := &conversation{t: t}
			c.exchange("planner", send, working)
			e, found := c.judge(stub("inner", analyzer.AnswerSeen, at(test.inner)), outer)
			want := 2
			if test.merged {
				want = 1
			}
			if len(found) != want {
				t.Fatalf("got %d findings, want %d: %q", len(found), want, texts(found))
			}
			if test.merged && !slices.Equal(found[0].Also, []string{"inner"}) {
				t.Errorf("also is %q, want the covered rule", found[0].Also)
			}
			if n := len(e.Coverage()); n != 2 {
				t.Errorf("coverage has %d rules, want both", n)
			}
		})
	}
}

func TestCoversThroughAnother(t *testing.T) {
	a, b, c := stub("a", analyzer.AnswerSeen, at(here)), stub("b", analyzer.AnswerSeen, at(here)), stub("c", analyzer.AnswerSeen, at(here))
	a.Covers, b.Covers = []string{"b"}, []string{"c"}
	talk := &conversation{t: t}
	talk.exchange("planner", send, working)
	for _, order := range [][]*analyzer.Rule{{a, b, c}, {c, b, a}, {b, a, c}} {
		_, found := talk.judge(order...)
		if len(found) != 1 || found[0].Rule != a {
			t.Fatalf("got %q, want the finding of a alone", texts(found))
		}
		slices.Sort(found[0].Also)
		if diff := cmp.Diff([]string{"b", "c"}, found[0].Also); diff != "" {
			t.Errorf("also (-want +got):\n%s", diff)
		}
	}
}

func TestScopes(t *testing.T) {
	const events = 3
	tests := []struct {
		scope analyzer.Scope
		want  int
	}{
		{analyzer.Always, 2 * events}, {analyzer.PerExchange, 2}, {analyzer.PerEndpoint, 1},
	}
	for _, test := range tests {
		c := &conversation{t: t}
		for range 2 {
			c.open("planner", rpcHead)
			c.ask(send)
			c.add(capture.ResponseHead{Head: []byte(sseHead), Stream: true})
			for k := range events {
				c.event(k+1, working)
			}
			c.add(capture.ResponseEnd{}, capture.Closed{})
		}
		r := stub("r", analyzer.EventSeen, at(here))
		r.Once = test.scope
		e, found := c.judge(r)
		if len(found) != test.want {
			t.Errorf("scope %d: got %d findings, want %d", test.scope, len(found), test.want)
		}
		if got := e.Coverage()[0]; got.Applied != 2*events || got.Broken != 2*events {
			t.Errorf("scope %d: coverage counts %d of %d, want all %d", test.scope, got.Broken, got.Applied, 2*events)
		}
	}
}

// What a rule that reports once covers is not reported in its place later on.
func TestScopeKeepsWhatItCovers(t *testing.T) {
	outer, inner := stub("outer", analyzer.EventSeen, at(here)), stub("inner", analyzer.EventSeen, at(here))
	outer.Covers, outer.Once, inner.Once = []string{"inner"}, analyzer.PerExchange, analyzer.PerExchange
	outer.Check = func(p *analyzer.Pass) {
		if p.Event.K == 1 {
			p.Report(p.Place, "seen", "expected")
		}
	}
	c := &conversation{t: t}
	c.open("planner", rpcHead)
	c.ask(send)
	c.add(capture.ResponseHead{Head: []byte(sseHead), Stream: true})
	c.event(1, working)
	c.event(2, working)
	_, found := c.judge(outer, inner)
	if len(found) != 1 || found[0].Rule != outer {
		t.Errorf("got %q, want the finding of outer alone", texts(found))
	}
}

func TestCoverageByLink(t *testing.T) {
	applies := stub("applies", analyzer.AnswerSeen, func(p *analyzer.Pass) {
		p.Applied()
		if p.Exchange.Link.Client == "hotel" {
			p.Report(p.Place, "seen", "expected")
		}
	})
	never := stub("never", analyzer.EventSeen, func(p *analyzer.Pass) { p.Applied() })
	c := &conversation{t: t}
	c.exchange("planner", send, working)
	c.exchange("hotel", send, working)
	c.exchange("planner", send, working)
	c.open("planner", "GET /health HTTP/1.1\r\n\r\n")
	c.add(capture.RequestEnd{})
	c.answer("ok")
	e, _ := c.judge(never, applies)
	want := []analyzer.Coverage{
		{Rule: applies, Link: analyzer.Link{Client: "hotel", Agent: "booker"}, Applied: 1, Broken: 1},
		{Rule: applies, Link: analyzer.Link{Client: "planner", Agent: "booker"}, Applied: 2},
	}
	same := cmp.Comparer(func(a, b *analyzer.Rule) bool { return a == b })
	if diff := cmp.Diff(want, e.Coverage(), same); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if got := e.Counts(); got.Exchanges != 4 || got.Judged != 3 || got.Lost != 0 {
		t.Errorf("got %+v, want 4 exchanges, 3 of them judged, none lost", got)
	}
}

// While a message may be in several dialects, only a rule that holds in all of them is asked.
func TestDialectsDecideWhoIsAsked(t *testing.T) {
	const get = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t1"}}`
	tests := []struct {
		cites int // how many of stub's citations, oldest first, are kept
		want  int
	}{{1, 0}, {2, 0}, {3, 1}, {4, 1}}
	for _, test := range tests {
		r := stub("r", analyzer.RequestSeen, at(here))
		r.Cites = r.Cites[:test.cites]
		c := &conversation{t: t}
		c.exchange("planner", get, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`)
		if _, found := c.judge(r); len(found) != test.want {
			t.Errorf("a rule of the first %d dialects made %d findings, want %d", test.cites, len(found), test.want)
		}
	}
}
