package report

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
)

// A Conformance is the conformance report of one agent, made from what was observed of it.
type Conformance struct {
	AgentURL         string                         `json:"agentUrl"`
	AgentName        string                         `json:"agentName"`
	AgentVersion     string                         `json:"agentVersion"`
	TestDate         string                         `json:"testDate"`
	Summary          ConformanceSummary             `json:"summary"`
	Categories       map[string][]ConformanceResult `json:"categories"`
	ConformanceLevel string                         `json:"conformanceLevel"`
	LevelReason      string                         `json:"levelReason"` // what the level rests on

	link string // the agent's name in links
}

// A ConformanceSummary counts results.
type ConformanceSummary struct {
	Total        int `json:"total"`
	Passed       int `json:"passed"`
	Failed       int `json:"failed"`
	Skipped      int `json:"skipped"`
	Inconclusive int `json:"inconclusive,omitempty"` // of tests alone
	Waived       int `json:"waived,omitempty"`       // failures of tests that do not count
}

// A ConformanceResult is one rule's or one test's outcome for one agent.
type ConformanceResult struct {
	Test     string `json:"test"`
	Category string `json:"category"`
	Status   string `json:"status"` // pass, fail, skip or critical; of a test also inconclusive
	Message  string `json:"message,omitempty"`

	// What only a test has. Those from Expected on are there if it failed.
	Duration  *int64   `json:"duration_ms,omitempty"`
	Severity  string   `json:"severity,omitempty"` // how much it matters: error, warning or note
	Sections  []string `json:"sections,omitempty"`
	Sequence  []string `json:"sequence,omitempty"` // events of its stream
	Exchanges []uint64 `json:"exchanges,omitempty"`
	Expected  string   `json:"expected,omitempty"`
	Seen      string   `json:"seen,omitempty"`
	Fix       string   `json:"recommendation,omitempty"`
	Request   string   `json:"request,omitempty"`
	Answer    string   `json:"answer,omitempty"`
	Waived    string   `json:"waived,omitempty"` // why the failure does not count
}

// kebab is how results spell the categories.
var kebab = map[analysis.Category]string{
	analysis.AgentCard:     "agent-card",
	analysis.Lifecycle:     "lifecycle",
	analysis.Streaming:     "streaming",
	analysis.ErrorHandling: "error-handling",
	analysis.Interop:       "interop",
}

// Kebab returns a category as results spell it: agent-card.
func Kebab(c analysis.Category) string { return kebab[c] }

// Conformances returns one report for each agent that was seen, or asked actively. A rule that never applied to the
// agent is skipped, one that was broken with an error has failed, one broken with less has passed and says so. Tests
// stand before the rules of their category.
func Conformances(r *Report) []Conformance {
	reports := []Conformance{}
	asked := make(map[string]*Suite, len(r.Tests))
	for i := range r.Tests {
		asked[r.Tests[i].Agent] = &r.Tests[i]
	}
	seen := tallies(r.Result)
	for i := range r.Result.Agents {
		agent := &r.Result.Agents[i]
		reports = append(reports, r.conformance(agent, asked[agent.Link], seen[agent.Link]))
		delete(asked, agent.Link)
	}
	for i := range r.Tests {
		if s := asked[r.Tests[i].Agent]; s != nil {
			reports = append(reports, r.conformance(&judgment.Agent{Link: s.Agent}, s, seen[s.Agent]))
		}
	}
	return reports
}

func (r *Report) conformance(agent *judgment.Agent, asked *Suite, seen agentTally) Conformance {
	c := Conformance{
		link: agent.Link, AgentURL: agent.URL, AgentName: agent.Name, AgentVersion: agent.Version,
		TestDate: r.Now.UTC().Format(time.RFC3339), Categories: make(map[string][]ConformanceResult),
	}
	for _, category := range analysis.Categories {
		c.Categories[string(category)] = []ConformanceResult{}
	}
	failed, broken := make(map[analysis.Category]int), make(map[analysis.Category]int)
	if asked != nil {
		c.addTests(asked, failed)
	}
	c.addRules(r, seen, broken)
	if asked != nil && asked.Level != "" {
		c.ConformanceLevel, c.LevelReason = lowered(asked, broken)
	} else {
		for category, n := range broken {
			failed[category] += n
		}
		c.ConformanceLevel, c.LevelReason = level(agent, failed)
	}
	if n := asked.waived(); n > 0 {
		c.LevelReason += fmt.Sprintf("; %d waived, and counted here", n)
	}
	return c
}

// waived counts the errors that are waived: they do not fail a check, and the agent conforms no better for it.
func (s *Suite) waived() int {
	n := 0
	for i := 0; s != nil && i < len(s.Tests); i++ {
		if t := &s.Tests[i]; t.Waived != "" && t.breaks(analysis.Error) {
			n++
		}
	}
	return n
}

// lowered returns the level that tests have given, or a lower one where rules found errors that no test did.
func lowered(asked *Suite, broken map[analysis.Category]int) (level, reason string) {
	others := broken[analysis.Streaming] + broken[analysis.ErrorHandling] + broken[analysis.Interop]
	switch {
	case asked.Level == "non-conformant", asked.Level == "not-determined":
	case broken[analysis.AgentCard]+broken[analysis.Lifecycle] > 0:
		return "non-conformant", "rules found that the card or the life of a task breaks the protocol; by what was asked " +
			asked.Level + ": " + asked.Reason
	case others > 0 && asked.Level == "full":
		return "partial", "rules found that something beside the life of a task breaks the protocol; by what was asked full: " +
			asked.Reason
	}
	return asked.Level, asked.Reason
}

// addTests adds what the agent was asked actively.
func (c *Conformance) addTests(s *Suite, failed map[analysis.Category]int) {
	c.AgentURL = s.URL
	if s.Name != "" {
		c.AgentName, c.AgentVersion = s.Name, s.Version
	}
	for i := range s.Tests {
		t := &s.Tests[i]
		if t.breaks(analysis.Error) {
			failed[t.Category]++
		}
		c.Categories[string(t.Category)] = append(c.Categories[string(t.Category)], t.conformance())
	}
	n := s.Tally()
	c.Summary = ConformanceSummary{
		Total: n.Total(), Passed: n.Passed, Failed: n.Failed, Skipped: n.Skipped, Inconclusive: n.Inconclusive,
		Waived: n.Waived,
	}
}

func (t *Test) conformance() ConformanceResult {
	ms := t.Duration.Milliseconds()
	r := ConformanceResult{
		Test: t.Name, Category: kebab[t.Category], Status: string(t.Status), Message: t.Message, Duration: &ms,
		Severity: t.Severity.String(), Sections: t.Sections, Sequence: t.Sequence, Exchanges: t.Exchanges,
	}
	if t.Bad() {
		r.Expected, r.Seen, r.Fix, r.Request, r.Answer, r.Waived = t.Expected, t.Seen, t.Fix, t.Request, t.Answer, t.Waived
	}
	return r
}

// addRules adds what the rules have to say about the agent.
func (c *Conformance) addRules(r *Report, seen agentTally, failed map[analysis.Category]int) {
	applied, worst := seen.applied, seen.worst
	for _, rule := range r.Rules {
		result := ConformanceResult{Test: rule.ID, Category: kebab[rule.Category]}
		finding := worst[rule.ID]
		switch {
		case applied[rule.ID] == 0:
			result.Status, result.Message = "skip", "not observed"
			c.Summary.Skipped++
		case failing(finding, rule):
			result.Status, result.Message = "fail", finding.Message()
			if finding.Rule.Critical != analysis.Present {
				result.Status = "critical"
			}
			c.Summary.Failed++
			failed[rule.Category]++
		default:
			result.Status = "pass"
			if finding != nil {
				result.Message = min(finding.Severity, rule.Severity()).String() + ", " + finding.Side.String() + ": " +
					finding.Message()
			}
			c.Summary.Passed++
		}
		c.Summary.Total++
		c.Categories[string(rule.Category)] = append(c.Categories[string(rule.Category)], result)
	}
}

// An agentTally is what the rules have seen of one agent.
type agentTally struct {
	applied map[string]int               // how often each rule applied
	worst   map[string]*analysis.Finding // the worst finding that it is broken by
}

// tallies returns what the rules have seen of each agent, by its name.
func tallies(r *judgment.Result) map[string]agentTally {
	list := make(map[string]agentTally)
	of := func(agent string) agentTally {
		t, known := list[agent]
		if !known {
			t = agentTally{make(map[string]int), make(map[string]*analysis.Finding)}
			list[agent] = t
		}
		return t
	}
	for _, c := range r.Coverage {
		of(c.Programs().Agent).applied[c.Rule.ID] += c.Applied
	}
	counted := r.Counted()
	for i := range r.Findings {
		f := &r.Findings[i]
		t := of(counted(f.Link).Programs(f.Operation).Agent)
		t.applied[f.Rule.ID]++
		for _, id := range append([]string{f.Rule.ID}, f.Also...) { // what it covers is broken too
			if w := t.worst[id]; w == nil || weight(f) > weight(w) {
				t.worst[id] = f
			}
		}
	}
	return list
}

// weight orders findings by how much they say about the agent: errors first, its own before those of others.
func weight(f *analysis.Finding) int {
	w := 2 * int(f.Severity)
	if f.Side == a2a.Agent {
		w++
	}
	return w
}

// failing reports whether a finding makes a rule fail: it is the agent's error, and the rule is one that makes errors.
func failing(f *analysis.Finding, rule *analysis.Rule) bool {
	return f != nil && f.Side == a2a.Agent && f.Severity == analysis.Error && rule.Severity() == analysis.Error
}

// level says how far the agent conforms, as far as the traffic shows it.
func level(agent *judgment.Agent, failed map[analysis.Category]int) (level, reason string) {
	done := agent.Operations
	sent := done[a2a.SendMessage] + done[a2a.SendStreamingMessage]
	streamed := done[a2a.SendStreamingMessage] + done[a2a.SubscribeToTask]
	pushed := done[a2a.CreatePushConfig]
	others := failed[analysis.Streaming] + failed[analysis.ErrorHandling] + failed[analysis.Interop]
	lacking := unseen(agent)
	switch {
	case agent.BadCard != "":
		return "non-conformant", "the card " + agent.BadCard
	case agent.Name == "" || sent == 0 || done[a2a.GetTask] == 0:
		return "not-determined", fmt.Sprintf("a level needs the card, a send and a get: card %s, %d sends, %d gets were answered",
			yes(agent.Name != ""), sent, done[a2a.GetTask])
	case failed[analysis.AgentCard]+failed[analysis.Lifecycle] > 0:
		return "non-conformant", "the card or the life of a task breaks the protocol"
	case others > 0:
		return "partial", "the life of a task holds, other parts break the protocol"
	case agent.Streaming && streamed == 0 || agent.Push && pushed == 0:
		return "minimal", "nothing observed breaks the protocol; an advertised feature was not exercised: " +
			unexercised(agent, streamed, pushed)
	case lacking != "":
		return "minimal", "nothing observed breaks the protocol; not observed: " + lacking
	}
	return "full", "nothing observed breaks the protocol; streaming " + tested(agent.Streaming) + ", push " +
		tested(agent.Push)
}

// unseen names what a full report needs and the traffic does not show: a task that completed, one that was canceled,
// and a call that was refused.
func unseen(agent *judgment.Agent) string {
	var list []string
	if agent.Completed == 0 {
		list = append(list, "a completed task")
	}
	if agent.Operations[a2a.CancelTask] == 0 {
		list = append(list, "a cancellation")
	}
	if agent.Refused == 0 {
		list = append(list, "a refusal")
	}
	return strings.Join(list, ", ")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func tested(advertised bool) string {
	if advertised {
		return "tested"
	}
	return "not advertised"
}

func unexercised(agent *judgment.Agent, streamed, pushed int) string {
	switch streaming, push := agent.Streaming && streamed == 0, agent.Push && pushed == 0; {
	case streaming && push:
		return "streaming, push"
	case streaming:
		return "streaming"
	}
	return "push"
}
