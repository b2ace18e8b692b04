package dispatch_test

import (
	"fmt"
	"slices"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/a2a"
)

// severities returns those of findings, in their order.
func severities(findings []analysis.Finding) []analysis.Severity {
	var list []analysis.Severity
	for i := range findings {
		list = append(list, findings[i].Severity)
	}
	return list
}

// Of several findings in a scope the first of each severity is reported, whatever comes first.
func TestScopeHidesNothingWorse(t *testing.T) {
	const note, warning, failed = analysis.Note, analysis.Warning, analysis.Error
	tests := []struct{ broken, want []analysis.Severity }{
		{[]analysis.Severity{note, failed}, []analysis.Severity{note, failed}},
		{[]analysis.Severity{note, warning, failed}, []analysis.Severity{note, warning, failed}},
		{[]analysis.Severity{failed, note, failed}, []analysis.Severity{failed, note}},
		{[]analysis.Severity{failed, failed}, []analysis.Severity{failed}},
		{[]analysis.Severity{note, note, warning, note}, []analysis.Severity{note, warning}},
	}
	for _, scope := range []analysis.Scope{analysis.PerExchange, analysis.PerEndpoint, analysis.PerOrigin} {
		for _, test := range tests {
			r := enginetest.Rule("r", analysis.EventSeen, func(p *analysis.Pass) {
				p.Report(p.Place, "seen", "expected", analysis.AtMost(test.broken[p.Event.K-1]))
			})
			r.Once = scope
			c := &enginetest.Conversation{T: t}
			c.Stream("planner")
			for k := range test.broken {
				c.Event(k+1, enginetest.Working)
			}
			if _, found := c.Judge(r); !slices.Equal(severities(found), test.want) {
				t.Errorf("scope %d, %v: got %v, want %v", scope, test.broken, severities(found), test.want)
			}
		}
	}
}

// However often a rule is broken mildly in one message, what is worse is reported too.
func TestManyAlikeHideNothingWorse(t *testing.T) {
	r := enginetest.Rule("r", analysis.AnswerSeen, func(p *analysis.Pass) {
		for i := range 40 {
			p.Report(p.Place.At(fmt.Sprintf("/result/%d", i)), "seen", "expected", analysis.AtMost(analysis.Note))
		}
		p.Report(p.Place, "seen", "expected")
	})
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	_, found := c.Judge(r)
	if n := len(found); n < 2 || n > 20 || found[n-1].Severity != analysis.Error {
		t.Errorf("got %v, want some notes and the error", severities(found))
	}
}

// Every client that breaks a rule at an endpoint is named; the agent is named once.
func TestScopeCountsClients(t *testing.T) {
	for _, test := range []struct {
		side a2a.Side
		want []string
	}{
		{a2a.Client, []string{"planner", "hotel"}},
		{a2a.Agent, []string{"planner"}},
	} {
		r := enginetest.Rule("r", analysis.AnswerSeen, enginetest.At(enginetest.Here))
		r.Once, r.Side = analysis.PerEndpoint, test.side
		c := &enginetest.Conversation{T: t}
		for _, client := range []string{"planner", "planner", "hotel", "planner", "hotel"} {
			c.Exchange(client, enginetest.Send, enginetest.Working)
		}
		_, found := c.Judge(r)
		var got []string
		for i := range found {
			got = append(got, found[i].Link.Client)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("broken by the %s: reported for %q, want %q", test.side, got, test.want)
		}
	}
}

// A finding that covers a worse one is as bad as that, and rests on its sections too. What it covered is reported where
// it is worse somewhere else.
func TestCoverIsNeverMilder(t *testing.T) {
	inner := enginetest.Rule("inner", analysis.EventSeen, func(p *analysis.Pass) {
		p.Report(p.Place, "seen", "expected", analysis.AtMost(analysis.Severity(min(p.Event.K, 2))))
	})
	middle := enginetest.Rule("middle", analysis.EventSeen, func(p *analysis.Pass) {
		if p.Event.K < 3 {
			p.Report(p.Place, "seen", "expected", analysis.AtMost(analysis.Note))
		}
	})
	outer := enginetest.Rule("outer", analysis.EventSeen, func(p *analysis.Pass) {
		if p.Event.K == 1 {
			p.Report(p.Place, "seen", "expected", analysis.AtMost(analysis.Note))
		}
	})
	inner.Cites = []a2a.Cite{{In: a2a.V1_0, Section: "9"}}
	inner.Once, outer.Once = analysis.PerExchange, analysis.PerExchange
	middle.Covers, outer.Covers = []string{"inner"}, []string{"middle"}
	c := &enginetest.Conversation{T: t}
	c.Stream("planner")
	for k := range 4 {
		c.Event(k+1, enginetest.Working)
	}
	for _, order := range [][]*analysis.Rule{{inner, middle, outer}, {outer, middle, inner}, {middle, inner, outer}} {
		_, found := c.Judge(order...)
		var got []string
		for i := range found {
			f := &found[i]
			weight := "itself"
			if f.Weight != nil {
				weight = f.Weight.ID
			}
			got = append(got, fmt.Sprintf("%s %s %s by %s, %q", f.Place, f.Rule.ID, f.Severity, weight, f.Sections()))
		}
		want := []string{
			`1.response.event[1] outer warning by inner, ["1.0 §1" "1.0 §9"]`,
			`1.response.event[2] middle error by inner, ["1.0 §1" "1.0 §9"]`,
			`1.response.event[3] inner error by itself, ["1.0 §9"]`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
