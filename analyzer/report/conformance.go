package report

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer"
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
	Total   int `json:"total"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// A ConformanceResult is one rule's outcome for one agent.
type ConformanceResult struct {
	Test     string `json:"test"`
	Category string `json:"category"`
	Status   string `json:"status"` // pass, fail, skip or critical
	Message  string `json:"message,omitempty"`
}

// kebab is how results spell the categories.
var kebab = map[analyzer.Category]string{
	analyzer.AgentCard:     "agent-card",
	analyzer.Lifecycle:     "lifecycle",
	analyzer.Streaming:     "streaming",
	analyzer.ErrorHandling: "error-handling",
	analyzer.Interop:       "interop",
}

// Conformances returns one report for each agent that was seen. A rule that never applied to the agent is skipped, one
// that was broken with an error has failed, one broken with less has passed and says so.
func Conformances(r *analyzer.Result, rules []*analyzer.Rule, now time.Time) []Conformance {
	reports := []Conformance{}
	for i := range r.Agents {
		reports = append(reports, conformance(r, &r.Agents[i], rules, now))
	}
	return reports
}

func conformance(r *analyzer.Result, agent *analyzer.Agent, rules []*analyzer.Rule, now time.Time) Conformance {
	c := Conformance{
		link: agent.Link, AgentURL: agent.URL, AgentName: agent.Name, AgentVersion: agent.Version,
		TestDate: now.UTC().Format(time.RFC3339), Categories: make(map[string][]ConformanceResult),
	}
	for _, category := range analyzer.Categories {
		c.Categories[string(category)] = []ConformanceResult{}
	}
	applied, worst := tallies(r, agent)
	failed := make(map[analyzer.Category]int)
	for _, rule := range rules {
		result := ConformanceResult{Test: rule.ID, Category: kebab[rule.Category]}
		finding := worst[rule.ID]
		switch {
		case applied[rule.ID] == 0:
			result.Status, result.Message = "skip", "not observed"
			c.Summary.Skipped++
		case failing(finding, rule):
			result.Status, result.Message = "fail", finding.Message
			if finding.Rule.Critical {
				result.Status = "critical"
			}
			c.Summary.Failed++
			failed[rule.Category]++
		default:
			result.Status = "pass"
			if finding != nil {
				result.Message = min(finding.Severity, rule.Severity()).String() + ", " + finding.Side.String() + ": " +
					finding.Message
			}
			c.Summary.Passed++
		}
		c.Summary.Total++
		c.Categories[string(rule.Category)] = append(c.Categories[string(rule.Category)], result)
	}
	c.ConformanceLevel, c.LevelReason = level(agent, failed)
	return c
}

// tallies returns how often each rule applied to the agent, and the worst finding that it is broken by there.
func tallies(r *analyzer.Result, agent *analyzer.Agent) (map[string]int, map[string]*analyzer.Finding) {
	applied := make(map[string]int)
	for _, c := range r.Coverage {
		if c.Link.Agent == agent.Link {
			applied[c.Rule.ID] += c.Applied
		}
	}
	worst := make(map[string]*analyzer.Finding)
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Link.Agent != agent.Link {
			continue
		}
		applied[f.Rule.ID]++
		for _, id := range append([]string{f.Rule.ID}, f.Also...) { // what it covers is broken too
			if w := worst[id]; w == nil || weight(f) > weight(w) {
				worst[id] = f
			}
		}
	}
	return applied, worst
}

// weight orders findings by how much they say about the agent: errors first, its own before those of others.
func weight(f *analyzer.Finding) int {
	w := 2 * int(f.Severity)
	if f.Side == a2a.Agent {
		w++
	}
	return w
}

// failing reports whether a finding makes a rule fail: it is the agent's error, and the rule is one that makes errors.
func failing(f *analyzer.Finding, rule *analyzer.Rule) bool {
	return f != nil && f.Side == a2a.Agent && f.Severity == analyzer.Error && rule.Severity() == analyzer.Error
}

// level says how far the agent conforms, as far as the traffic shows it.
func level(agent *analyzer.Agent, failed map[analyzer.Category]int) (level, reason string) {
	done := agent.Operations
	sent := done[a2a.SendMessage] + done[a2a.SendStreamingMessage]
	streamed := done[a2a.SendStreamingMessage] + done[a2a.SubscribeToTask]
	pushed := done[a2a.CreatePushConfig]
	others := failed[analyzer.Streaming] + failed[analyzer.ErrorHandling] + failed[analyzer.Interop]
	lacking := unseen(agent)
	switch {
	case agent.BadCard != "":
		return "non-conformant", "the card " + agent.BadCard
	case agent.Name == "" || sent == 0 || done[a2a.GetTask] == 0:
		return "not-determined", fmt.Sprintf("a level needs the card, a send and a get: card %s, %d sends, %d gets were answered",
			yes(agent.Name != ""), sent, done[a2a.GetTask])
	case failed[analyzer.AgentCard]+failed[analyzer.Lifecycle] > 0:
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
func unseen(agent *analyzer.Agent) string {
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

func unexercised(agent *analyzer.Agent, streamed, pushed int) string {
	switch streaming, push := agent.Streaming && streamed == 0, agent.Push && pushed == 0; {
	case streaming && push:
		return "streaming, push"
	case streaming:
		return "streaming"
	}
	return "push"
}
