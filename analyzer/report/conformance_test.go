package report_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// The level says how far the agent conforms, as far as the traffic shows it, and what that rests on.
func TestConformanceLevel(t *testing.T) {
	all := map[a2a.Operation]int{
		a2a.SendMessage: 1, a2a.SendStreamingMessage: 1, a2a.GetTask: 1, a2a.CancelTask: 1,
		a2a.CreatePushConfig: 1,
	}
	without := func(missing ...a2a.Operation) map[a2a.Operation]int {
		left := make(map[a2a.Operation]int)
		for op, n := range all {
			left[op] = n
		}
		for _, op := range missing {
			delete(left, op)
		}
		return left
	}
	tests := []struct {
		name   string
		agent  judgment.Agent
		broken analysis.Category
		want   string
		reason string
	}{
		{
			"everything",
			judgment.Agent{
				Name: "Booker", Streaming: true, Push: true, Operations: all, Completed: 1, Refused: 1,
			},
			"", "full",
			"streaming tested, push tested",
		},
		{
			"push not advertised",
			judgment.Agent{
				Name: "Booker", Streaming: true, Operations: without(a2a.CreatePushConfig), Completed: 1, Refused: 1,
			},
			"", "full", "push not advertised",
		},
		{
			"nothing advertised",
			judgment.Agent{
				Name: "Booker", Operations: without(a2a.CreatePushConfig, a2a.SendStreamingMessage),
				Completed: 1, Refused: 1,
			},
			"", "full",
			"streaming not advertised, push not advertised",
		},
		{
			"nothing completed, canceled or refused",
			judgment.Agent{Name: "Booker", Operations: without(a2a.CancelTask)},
			"", "minimal", "not observed: a completed task, a cancellation, a refusal",
		},
		{
			"a card without a name",
			judgment.Agent{BadCard: "has no name", Operations: all},
			"", "non-conformant", "the card has no name",
		},
		{
			"push not tried",
			judgment.Agent{Name: "Booker", Push: true, Operations: without(a2a.CreatePushConfig)},
			"",
			"minimal", "not exercised: push",
		},
		{
			"streaming not tried",
			judgment.Agent{Name: "Booker", Streaming: true, Operations: without(a2a.SendStreamingMessage)},
			"", "minimal",
			"not exercised: streaming",
		},
		{
			"neither tried",
			judgment.Agent{
				Name: "Booker", Streaming: true, Push: true,
				Operations: without(a2a.SendStreamingMessage, a2a.CreatePushConfig),
			},
			"", "minimal",
			"not exercised: streaming, push",
		},
		{
			"a stream is wrong",
			judgment.Agent{Name: "Booker", Operations: all},
			analysis.Streaming, "partial",
			"the life of a task is correct",
		},
		{
			"an error is wrong",
			judgment.Agent{Name: "Booker", Operations: all},
			analysis.ErrorHandling, "partial",
			"the life of a task is correct",
		},
		{
			"interop is wrong",
			judgment.Agent{Name: "Booker", Operations: all},
			analysis.Interop, "partial",
			"the life of a task is correct",
		},
		{
			"the card is wrong",
			judgment.Agent{Name: "Booker", Operations: all},
			analysis.AgentCard, "non-conformant",
			"the card or the life of a task",
		},
		{
			"a task is wrong",
			judgment.Agent{Name: "Booker", Operations: all},
			analysis.Lifecycle, "non-conformant",
			"the card or the life of a task",
		},
		{"no card", judgment.Agent{Operations: all}, "", "not-determined", "card no, 2 sends, 1 gets"},
		{
			"no get",
			judgment.Agent{Name: "Booker", Operations: without(a2a.GetTask)},
			"", "not-determined",
			"card yes, 2 sends, 0 gets",
		},
		{
			"no send",
			judgment.Agent{Name: "Booker", Operations: without(a2a.SendMessage, a2a.SendStreamingMessage)},
			analysis.Lifecycle, "not-determined", "card yes, 0 sends, 1 gets",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.agent.Link = "booker"
			result := &judgment.Result{Agents: []judgment.Agent{test.agent}}
			var list []*analysis.Rule
			for _, c := range analysis.Categories {
				r := &analysis.Rule{ID: string(c), Category: c, Level: analysis.Must}
				list = append(list, r)
				if c == test.broken {
					result.Findings = append(result.Findings,
						analysis.Finding{Rule: r, Severity: analysis.Error, Side: a2a.Agent, Link: analysis.Link{Agent: "booker"}})
				}
			}
			got := report.Conformances(&report.Report{Result: result, Rules: list, Now: day})[0]
			if got.ConformanceLevel != test.want || !strings.Contains(got.LevelReason, test.reason) {
				t.Errorf("got %s (%s), want %s (%s)", got.ConformanceLevel, got.LevelReason, test.want, test.reason)
			}
		})
	}
}

// Full means that no rule was broken above note, no call failed, and nothing is known to be missing.
func TestWhatKeepsFromFull(t *testing.T) {
	link := analysis.Link{Client: "planner", Agent: "booker"}
	perfect := judgment.Agent{
		Link: "booker", Name: "Booker", Completed: 1, Refused: 1,
		Operations: map[a2a.Operation]int{a2a.SendMessage: 1, a2a.GetTask: 1, a2a.CancelTask: 1},
	}
	rule := &analysis.Rule{ID: "r", Category: analysis.Lifecycle, Level: analysis.Should}
	broken := func(s analysis.Severity, side a2a.Side) judgment.Result {
		return judgment.Result{Findings: []analysis.Finding{{Rule: rule, Severity: s, Side: side, Link: link}}}
	}
	calls := func(c judgment.Calls) judgment.Result {
		c.Link = link
		return judgment.Result{Calls: []judgment.Calls{c}}
	}
	for _, test := range []struct {
		name         string
		result       judgment.Result
		directions   []report.Direction
		want, reason string
	}{
		{"nothing", judgment.Result{}, nil, "full", ""},
		{"a note", broken(analysis.Note, a2a.Agent), nil, "full", ""},
		{"a fault of the client", broken(analysis.Error, a2a.Client), nil, "full", ""},
		{"a warning", broken(analysis.Warning, a2a.Agent), nil, "partial", "recommendations or options are not"},
		{"an error", broken(analysis.Error, a2a.Agent), nil, "non-conformant", "the life of a task"},
		{
			"some calls failed",
			calls(judgment.Calls{Made: 80, Succeeded: 70, Failed: 10, Failures: map[string]int{"HTTP 500": 10}}), nil,
			"partial", "10 of 80 calls failed: HTTP 500 10",
		},
		{
			"some calls were refused",
			calls(judgment.Calls{Made: 3, Succeeded: 2, Refused: 1, Refusals: map[string]int{"TaskNotFound": 1}}), nil, "full", "",
		},
		{"calls without a known outcome", calls(judgment.Calls{Made: 80, Succeeded: 79}), nil, "minimal", "the outcome of 1 call"},
		{"webhooks", calls(judgment.Calls{Made: 1, Succeeded: 1, Unheard: true}), nil, "minimal", "webhooks"},
		{"a loss", judgment.Result{Counts: judgment.Counts{Lost: 3}}, nil, "minimal", "3 exchanges not recorded"},
		{"a crash", judgment.Result{Crashes: make([]capture.Crash, 1)}, nil, "minimal", "the recorder was killed"},
		{
			"a gap",
			judgment.Result{NotSeen: []judgment.NotSeen{{What: "the end of 1 task", Why: "at work", Count: 1}}},
			nil,
			"minimal", "the end of 1 task: at work",
		},
		{
			"a broken direction",
			judgment.Result{},
			[]report.Direction{{ID: report.Send, From: "hotel", To: "booker", Status: report.DirectionBroken}},
			"partial", "a direction",
		},
		{
			"the other direction",
			judgment.Result{},
			[]report.Direction{{ID: report.Send, From: "booker", To: "hotel", Status: report.DirectionBroken}},
			"full", "",
		},
	} {
		for _, asked := range []bool{false, true} {
			test.result.Agents = []judgment.Agent{perfect}
			r := whole(&test.result, rule)
			r.Directions = test.directions
			if asked {
				r.Tests = []report.Suite{{Agent: "booker", Level: "full", Reason: "all is well"}}
				if test.reason != "" && (len(test.result.Calls) > 0 || len(test.result.NotSeen) > 0) {
					continue // some calls of a probe are to fail
				}
			}
			got := report.Conformances(r)[0]
			if got.ConformanceLevel != test.want || !asked && !strings.Contains(got.LevelReason, test.reason) {
				t.Errorf("%s, asked %t: got %s (%s), want %s (%s)", test.name, asked, got.ConformanceLevel, got.LevelReason, test.want,
					test.reason)
			}
		}
	}
}

// The sum of a conformance report counts what it lists.
func TestConformanceAddsUp(t *testing.T) {
	for _, r := range []*report.Report{whole(small(t)), active(asked())} {
		for _, c := range report.Conformances(r) {
			count := make(map[string]int)
			for _, list := range c.Categories {
				for _, one := range list {
					count["total"]++
					count[one.Status]++
					if one.Waived != "" {
						count["waived"]++
					}
				}
			}
			want := report.ConformanceSummary{
				Total: count["total"], Passed: count["pass"], Failed: count["fail"] + count["critical"], Skipped: count["skip"],
				Inconclusive: count["inconclusive"], Waived: count["waived"],
			}
			got, parts := c.Summary, 0
			for _, part := range []*report.ConformanceSummary{got.Tests, got.Rules, got.Directions} {
				if part != nil {
					parts += part.Total
				}
			}
			expect.Equal(t, c.AgentName+": tests, rules and directions", want.Total, parts)
			got.Tests, got.Rules, got.Directions = nil, nil, nil
			expect.Same(t, c.AgentName, want, got)
		}
	}
}

func TestConformanceResults(t *testing.T) {
	r := &analysis.Rule{ID: "r", Category: analysis.Streaming, Level: analysis.Must, Fix: "mind it"}
	link := analysis.Link{Client: "planner", Agent: "booker"}
	finding := func(s analysis.Severity, side a2a.Side, agent string) analysis.Finding {
		return analysis.Finding{
			Rule: r, Severity: s, Side: side, Link: analysis.Link{Client: "planner", Agent: agent},
			Seen: "seen", Expected: "expected",
		}
	}
	tests := []struct {
		name     string
		applied  int
		findings []analysis.Finding
		status   string
		message  string
		severity string
	}{
		{"not observed", 0, nil, "skip", "not observed", ""},
		{"kept", 3, nil, "pass", "", ""},
		{
			"an error", 3,
			[]analysis.Finding{finding(analysis.Note, a2a.Agent, "booker"), finding(analysis.Error, a2a.Agent, "booker")},
			"fail", "seen; expected", "error",
		},
		{
			"a warning", 3,
			[]analysis.Finding{finding(analysis.Warning, a2a.Agent, "booker")},
			"fail", "seen; expected", "warning",
		},
		{
			"a note", 3,
			[]analysis.Finding{finding(analysis.Note, a2a.Agent, "booker")},
			"pass", "note, agent: seen; expected", "",
		},
		{
			"the client's error", 3,
			[]analysis.Finding{finding(analysis.Error, a2a.Client, "booker")},
			"pass",
			"error, client: seen; expected", "",
		},
		{
			"both are at fault", 3,
			[]analysis.Finding{finding(analysis.Error, a2a.Client, "booker"), finding(analysis.Error, a2a.Agent, "booker")},
			"fail", "seen; expected", "error",
		},
		{
			"broken along with another", 3,
			[]analysis.Finding{
				{
					Rule: &analysis.Rule{ID: "outer"}, Severity: analysis.Error, Side: a2a.Agent, Link: link, Also: []string{"r"},
					Seen: "seen", Expected: "expected",
				},
			},
			"fail", "seen; expected", "error",
		},
		{"another agent's error", 3, []analysis.Finding{finding(analysis.Error, a2a.Agent, "hotel")}, "pass", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := &judgment.Result{Agents: []judgment.Agent{{Link: "booker"}}, Findings: test.findings}
			if test.applied > 0 {
				result.Coverage = []judgment.Coverage{{Rule: r, Link: link, Applied: test.applied}}
			}
			got := report.Conformances(whole(result, r))[0].Categories["streaming"][0]
			want := report.ConformanceResult{Test: "r", Category: "streaming", Status: test.status, Message: test.message}
			if want.Severity = test.severity; want.Severity != "" {
				want.Fix = r.Fix
			}
			expect.Same(t, "", want, got)
		})
	}
}
