package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestOneCauseOneFinding(t *testing.T) {
	inside := func(p analysis.Place) analysis.Place { return p.At("/result/task") }
	tests := []struct {
		name         string
		outer, inner func(analysis.Place) analysis.Place
		merged       bool
	}{
		{"same place", enginetest.Here, enginetest.Here, true},
		{"inside the body", enginetest.Here, inside, true},
		{"inside a value", inside, func(p analysis.Place) analysis.Place { return p.At("/result/task/status") }, true},
		{"same value", inside, inside, true},
		{"around it", inside, enginetest.Here, false},
		{"beside it", inside, func(p analysis.Place) analysis.Place { return p.At("/result/tasks") }, false},
		{"the head, not the body", func(p analysis.Place) analysis.Place { return p.Status() }, enginetest.Here, false},
		{
			"the whole answer",
			func(p analysis.Place) analysis.Place { return analysis.Place{Exchange: p.Exchange, Response: true} },
			enginetest.Here, true,
		},
		{"another exchange", enginetest.Here, func(p analysis.Place) analysis.Place { p.Exchange++; return p }, false},
		{"the request", enginetest.Here, func(p analysis.Place) analysis.Place { p.Response = false; return p }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			outer := enginetest.Rule("outer", analysis.AnswerSeen, enginetest.At(test.outer))
			outer.Covers = []string{"inner"}
			c := &enginetest.Conversation{T: t}
			c.Exchange("planner", enginetest.Send, enginetest.Working)
			e, found := c.Judge(enginetest.Rule("inner", analysis.AnswerSeen, enginetest.At(test.inner)), outer)
			want := 2
			if test.merged {
				want = 1
			}
			if len(found) != want {
				t.Fatalf("got %d findings, want %d: %q", len(found), want, enginetest.Texts(found))
			}
			if test.merged && !slices.Equal(found[0].Also, []string{"inner"}) {
				t.Errorf("also is %q, want the covered rule", found[0].Also)
			}
			expect.Equal(t, "rules with coverage", 2, len(e.Coverage()))
		})
	}
}

func TestCoversThroughAnother(t *testing.T) {
	a, b, c := enginetest.Rule("a", analysis.AnswerSeen, enginetest.At(enginetest.Here)), enginetest.Rule("b",
		analysis.AnswerSeen, enginetest.At(enginetest.Here)), enginetest.Rule("c", analysis.AnswerSeen,
		enginetest.At(enginetest.Here))
	a.Covers, b.Covers = []string{"b"}, []string{"c"}
	talk := &enginetest.Conversation{T: t}
	talk.Exchange("planner", enginetest.Send, enginetest.Working)
	for _, order := range [][]*analysis.Rule{{a, b, c}, {c, b, a}, {b, a, c}} {
		_, found := talk.Judge(order...)
		if len(found) != 1 || found[0].Rule != a {
			t.Fatalf("got %q, want the finding of a alone", enginetest.Texts(found))
		}
		slices.Sort(found[0].Also)
		expect.Same(t, "also", []string{"b", "c"}, found[0].Also)
	}
}

func TestScopes(t *testing.T) {
	const events = 3
	tests := []struct {
		scope analysis.Scope
		want  int
	}{
		{analysis.Always, 2 * events}, {analysis.PerExchange, 2}, {analysis.PerEndpoint, 1},
	}
	for _, test := range tests {
		c := &enginetest.Conversation{T: t}
		for range 2 {
			c.Stream("planner")
			for k := range events {
				c.Event(k+1, enginetest.Working)
			}
			c.Add(capture.ResponseEnd{}, capture.Closed{})
		}
		r := enginetest.Rule("r", analysis.EventSeen, enginetest.At(enginetest.Here))
		r.Once = test.scope
		e, found := c.Judge(r)
		expect.Equal(t, fmt.Sprintf("scope %d: findings", test.scope), test.want, len(found))
		if got := e.Coverage()[0]; got.Applied != 2*events || got.Broken != 2*events {
			t.Errorf("scope %d: coverage counts %d of %d, want all %d", test.scope, got.Broken, got.Applied, 2*events)
		}
	}
}

// What a rule that reports once covers is not reported in its place later on.
func TestScopeKeepsWhatItCovers(t *testing.T) {
	outer, inner := enginetest.Rule("outer", analysis.EventSeen, enginetest.At(enginetest.Here)), enginetest.Rule("inner",
		analysis.EventSeen, enginetest.At(enginetest.Here))
	outer.Covers, outer.Once, inner.Once = []string{"inner"}, analysis.PerExchange, analysis.PerExchange
	outer.Check = func(p *analysis.Pass) {
		if p.Event.K == 1 {
			p.Report(p.Place, "seen", "expected")
		}
	}
	c := &enginetest.Conversation{T: t}
	c.Stream("planner")
	c.Event(1, enginetest.Working)
	c.Event(2, enginetest.Working)
	_, found := c.Judge(outer, inner)
	if len(found) != 1 || found[0].Rule != outer {
		t.Errorf("got %q, want the finding of outer alone", enginetest.Texts(found))
	}
}

func TestCoverageByLink(t *testing.T) {
	applies := enginetest.Rule("applies", analysis.AnswerSeen, func(p *analysis.Pass) {
		p.Applied()
		if p.Exchange.Link.Client == "hotel" {
			p.Report(p.Place, "seen", "expected")
		}
	})
	never := enginetest.Rule("never", analysis.EventSeen, func(p *analysis.Pass) { p.Applied() })
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	c.Exchange("hotel", enginetest.Send, enginetest.Working)
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	c.Open("planner", "GET /health HTTP/1.1\r\n\r\n")
	c.Add(capture.RequestEnd{})
	c.Answer("ok")
	e, _ := c.Judge(never, applies)
	want := []judgment.Coverage{
		{Rule: applies, Link: analysis.Link{Client: "hotel", Agent: "booker"}, Applied: 1, Broken: 1},
		{Rule: applies, Link: analysis.Link{Client: "planner", Agent: "booker"}, Applied: 2},
	}
	same := cmp.Comparer(func(a, b *analysis.Rule) bool { return a == b })
	expect.Same(t, "coverage", want, e.Coverage(), same)
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
		r := enginetest.Rule("r", analysis.RequestSeen, enginetest.At(enginetest.Here))
		r.Cites = r.Cites[:test.cites]
		c := &enginetest.Conversation{T: t}
		c.Exchange("planner", get, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`)
		if _, found := c.Judge(r); len(found) != test.want {
			t.Errorf("a rule of the first %d dialects made %d findings, want %d", test.cites, len(found), test.want)
		}
	}
}
