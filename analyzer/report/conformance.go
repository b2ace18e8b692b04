package report

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Conformance is the conformance report of one agent, made from observations.
type Conformance struct {
	AgentURL         string                         `json:"agentUrl"`
	AgentName        string                         `json:"agentName"`
	AgentVersion     string                         `json:"agentVersion"`
	TestDate         string                         `json:"testDate"`
	Summary          ConformanceSummary             `json:"summary"`
	Categories       map[string][]ConformanceResult `json:"categories"`
	ConformanceLevel string                         `json:"conformanceLevel"`
	LevelReason      string                         `json:"levelReason"` // the reason for the level

	link  string // the agent's name in links
	suite *Suite // its active tests; nil without any
}

// A ConformanceSummary counts the results of all categories by their status.
type ConformanceSummary struct {
	Total        int `json:"total"`
	Passed       int `json:"passed"`
	Failed       int `json:"failed"` // the critical ones included
	Skipped      int `json:"skipped"`
	Inconclusive int `json:"inconclusive,omitempty"` // of tests alone
	Waived       int `json:"waived,omitempty"`       // of those that failed: failures of tests that do not count

	// The same counts for tests, rules and directions. A count that is zero is absent.
	Tests      *ConformanceSummary `json:"tests,omitempty"`
	Rules      *ConformanceSummary `json:"rules,omitempty"`
	Directions *ConformanceSummary `json:"directions,omitempty"`
}

// add counts a result.
func (s *ConformanceSummary) add(r *ConformanceResult) {
	s.Total++
	switch r.Status {
	case "pass":
		s.Passed++
	case "skip":
		s.Skipped++
	case "inconclusive":
		s.Inconclusive++
	default:
		s.Failed++
		if r.Waived != "" {
			s.Waived++
		}
	}
}

// A ConformanceResult is one rule's or one test's outcome for one agent.
type ConformanceResult struct {
	Test     string `json:"test"`
	Category string `json:"category"`
	Status   string `json:"status"` // pass, fail, skip or critical; of a test also inconclusive
	Message  string `json:"message,omitempty"`

	Duration *int64 `json:"duration_ms,omitempty"`    // of a test, or of the exchange in which a rule was broken
	Severity string `json:"severity,omitempty"`       // how much a failure matters: error, warning or note
	Fix      string `json:"recommendation,omitempty"` // if it failed

	// Only for tests. Fields from Expected on are set if it failed.
	Sections  []string `json:"sections,omitempty"`
	Sequence  []string `json:"sequence,omitempty"` // events of its stream
	Skills    []Life   `json:"skills,omitempty"`
	Exchanges []uint64 `json:"exchanges,omitempty"`
	Expected  string   `json:"expected,omitempty"`
	Seen      string   `json:"seen,omitempty"`
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

// Conformances returns one report for each agent that was seen, or tested actively. A rule that never applied to the
// agent is skipped. A rule that the agent broke at error or warning has failed. A rule that it broke at note, or that
// another program broke, has passed, with a remark. Tests come before the rules of their category.
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
		link: agent.Link, suite: asked, AgentURL: agent.URL, AgentName: agent.Name, AgentVersion: agent.Version,
		TestDate: r.Now.UTC().Format(time.RFC3339), Categories: make(map[string][]ConformanceResult),
	}
	for _, category := range analysis.Categories {
		c.Categories[string(category)] = []ConformanceResult{}
	}
	tested := make(breaches)
	if asked != nil {
		c.addTests(asked, tested)
	}
	broken := c.addRules(r, seen)
	lost := c.addDirections(r.Directions)
	if asked != nil && asked.Level != "" {
		c.ConformanceLevel, c.LevelReason = lowered(asked, broken, lost, r.unseenOf(agent.Link))
	} else {
		broken.merge(tested)
		c.ConformanceLevel, c.LevelReason = level(agent, broken, lost, r.callsTo(agent.Link), r.unseenOf(agent.Link))
	}
	if n := asked.waived(); n > 0 {
		c.LevelReason += fmt.Sprintf("; %d waived, and counted here", n)
	}
	return c
}

// add adds a result, and counts it in the sum and in the counts of its kind.
func (c *Conformance) add(category analysis.Category, r ConformanceResult, kind **ConformanceSummary) {
	if *kind == nil {
		*kind = &ConformanceSummary{}
	}
	(*kind).add(&r)
	c.Summary.add(&r)
	c.Categories[string(category)] = append(c.Categories[string(category)], r)
}

// breaches counts the violations of the protocol, by category and severity.
type breaches map[analysis.Category]*[analysis.Error + 1]int

func (b breaches) add(c analysis.Category, s analysis.Severity, n int) {
	if b[c] == nil {
		b[c] = &[analysis.Error + 1]int{}
	}
	b[c][s] += n
}

func (b breaches) merge(other breaches) {
	for c, counts := range other {
		for s, n := range counts {
			b.add(c, analysis.Severity(s), n)
		}
	}
}

// count returns how often categories were broken with a severity.
func (b breaches) count(s analysis.Severity, categories ...analysis.Category) (n int) {
	for _, c := range categories {
		if b[c] != nil {
			n += b[c][s]
		}
	}
	return n
}

// callsTo returns the results of the calls to an agent, for all its clients together.
func (r *Report) callsTo(agent string) (all judgment.Calls) {
	for i := range r.Result.Calls {
		if c := r.Result.Calls[i].Settled(); c.Link.Agent == agent {
			all.Merge(&c)
		}
	}
	return all
}

// unseenOf describes what is missing from the recording of an agent, or returns "". Losses without a link may concern
// any agent.
func (r *Report) unseenOf(agent string) string {
	v := r.verdict()
	var list []string
	if v.Lost > 0 {
		list = append(list, analysis.Plural(v.Lost, "exchange")+" not recorded")
	}
	if len(v.Crashes) > 0 {
		list = append(list, "the recorder was killed")
	}
	if r.Tests != nil { // some tests are about broken connections and calls without an end
		return strings.Join(list, ", ")
	}
	for i := range v.NotSeen {
		list = append(list, v.NotSeen[i].String())
	}
	calls := r.callsTo(agent)
	if n := calls.Unknown(); n > 0 && len(v.NotSeen) == 0 {
		list = append(list, fmt.Sprintf("the outcome of %s", analysis.Plural(n, "call")))
	}
	if calls.Unheard {
		list = append(list, "webhooks")
	}
	const named = 3
	if more := len(list) - named; more > 0 {
		list = append(list[:named], fmt.Sprintf("%d more reasons", more))
	}
	return strings.Join(list, ", ")
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

// levelFull is the best level.
const levelFull = "full"

// lowered returns the level from the tests, or a lower one if rules found problems that no test did, a direction is
// broken, or the recording lacks something.
func lowered(asked *Suite, broken breaches, directions int, unseen string) (level, reason string) {
	by := "; from the test requests " + asked.Level + ": " + asked.Reason
	switch {
	case asked.Level == "non-conformant", asked.Level == "not-determined":
	case broken.count(analysis.Error, analysis.AgentCard, analysis.Lifecycle) > 0:
		return "non-conformant", "findings about the card or the life of a task" + by
	case asked.Level != levelFull:
	case broken.count(analysis.Error, analysis.Categories...) > 0:
		return "partial", "findings about other parts than the life of a task" + by
	case directions > 0:
		return "partial", "a direction between the agents is broken" + by
	case broken.count(analysis.Warning, analysis.Categories...) > 0:
		return "partial", "findings about recommendations" + by
	case unseen != "":
		return "minimal", "not seen: " + unseen + by
	}
	return asked.Level, asked.Reason
}

// addTests adds the agent's active tests.
func (c *Conformance) addTests(s *Suite, failed breaches) {
	c.AgentURL = s.URL
	if s.Name != "" {
		c.AgentName, c.AgentVersion = s.Name, s.Version
	}
	for i := range s.Tests {
		t := &s.Tests[i]
		if t.Bad() {
			failed.add(t.Category, t.severity(), 1)
		}
		c.add(t.Category, t.conformance(), &c.Summary.Tests)
	}
}

func (t *Test) conformance() ConformanceResult {
	ms := t.Duration.Milliseconds()
	r := ConformanceResult{
		Test: t.Name, Category: kebab[t.Category], Status: string(t.Status), Message: t.Message, Duration: &ms,
		Severity: t.Severity.String(), Sections: t.Sections, Sequence: t.Sequence, Skills: t.Skills, Exchanges: t.Exchanges,
	}
	if t.Bad() {
		r.Expected, r.Seen, r.Fix, r.Request, r.Answer, r.Waived = t.Expected, t.Seen, t.Fix, t.Request, t.Answer, t.Waived
	}
	return r
}

// addRules adds the rules' results for the agent, and returns its violations.
func (c *Conformance) addRules(r *Report, seen agentTally) breaches {
	broken := make(breaches)
	for _, rule := range r.Rules {
		result := ConformanceResult{Test: rule.ID, Category: kebab[rule.Category], Status: "pass"}
		finding := seen.worst[rule.ID]
		switch {
		case seen.applied[rule.ID] == 0 && finding == nil:
			result.Status, result.Message = "skip", "not observed"
		case finding == nil:
		case failing(finding, rule):
			severity := severityFor(finding, rule)
			broken.add(rule.Category, severity, 1)
			result.Status, result.Message, result.Severity = "fail", finding.Message(), severity.String()
			result.Fix, result.Duration = oneLine(rule.Fix), r.took(finding)
			if finding.Rule.Critical != analysis.Present {
				result.Status = "critical"
			}
		default:
			result.Message = severityFor(finding, rule).String() + ", " + finding.Side.String() + ": " + finding.Message()
		}
		c.add(rule.Category, result, &c.Summary.Rules)
	}
	return broken
}

// took returns how long the exchange of a finding took, in milliseconds; nil if that is not known.
func (r *Report) took(f *analysis.Finding) *int64 {
	if r.Took == nil {
		return nil
	}
	if took := r.Took(f); took != capture.NotKnown {
		return new(took.Milliseconds())
	}
	return nil
}

// addDirections adds the directions in which the agent is asked, and returns how many of them are broken.
func (c *Conformance) addDirections(list []Direction) (broken int) {
	for _, d := range list {
		if d.To != analysis.Clean(c.link) && !(d.ID == Concurrent && d.From == analysis.Clean(c.link)) {
			continue
		}
		result := ConformanceResult{
			Test: "direction-" + d.ID + ":" + d.From + "->" + d.To, Category: kebab[analysis.Interop], Status: "skip",
			Message: strings.TrimSuffix(d.What+": "+string(d.Status)+": "+d.Message, ": "),
		}
		switch d.Status {
		case DirectionObserved:
			result.Status, result.Message = "pass", d.What
		case DirectionBroken:
			result.Status, result.Severity = "fail", analysis.Error.String()
			broken++
		}
		c.add(analysis.Interop, result, &c.Summary.Directions)
	}
	return broken
}

// An agentTally counts the rules' observations of one agent.
type agentTally struct {
	applied map[string]int               // how often each rule applied
	worst   map[string]*analysis.Finding // the worst finding that it is broken by
}

// tallies returns the tally of each agent, by name.
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
		for _, id := range append([]string{f.Rule.ID}, f.Also...) { // the covered rules are broken too
			if w := t.worst[id]; w == nil || weight(f) > weight(w) {
				t.worst[id] = f
			}
		}
	}
	return list
}

// weight orders findings by their relevance for the agent: errors first, its own before those of others.
func weight(f *analysis.Finding) int {
	w := 2 * int(f.Severity)
	if f.Side == a2a.Agent {
		w++
	}
	return w
}

// failing reports whether a finding makes a rule fail: the agent broke it at error or warning.
func failing(f *analysis.Finding, rule *analysis.Rule) bool {
	return f.Side == a2a.Agent && severityFor(f, rule) >= analysis.Warning
}

// severityFor returns the severity of a finding for a rule: its own, or that of a rule broken along with it, which is
// limited to its own maximum.
func severityFor(f *analysis.Finding, rule *analysis.Rule) analysis.Severity {
	if f.Rule.ID == rule.ID {
		return f.Severity
	}
	return min(f.Severity, rule.Severity())
}

// level returns the agent's conformance level, as far as the traffic shows it.
func level(
	agent *judgment.Agent, broken breaches, directions int, calls judgment.Calls, notSeen string,
) (level, reason string) {
	done := agent.Operations
	sent := done[a2a.SendMessage] + done[a2a.SendStreamingMessage]
	streamed := done[a2a.SendStreamingMessage] + done[a2a.SubscribeToTask]
	pushed := done[a2a.CreatePushConfig]
	lacking := unseen(agent)
	switch {
	case agent.BadCard != "":
		return "non-conformant", "the card " + agent.BadCard
	case agent.Name == "" || sent == 0 || done[a2a.GetTask] == 0:
		return "not-determined", fmt.Sprintf("a level needs the card, a send and a get: card %s, %d sends, %d gets were answered",
			Yes(agent.Name != ""), sent, done[a2a.GetTask])
	case broken.count(analysis.Error, analysis.AgentCard, analysis.Lifecycle) > 0:
		return "non-conformant", "the card or the life of a task breaks the protocol"
	case broken.count(analysis.Error, analysis.Categories...) > 0:
		return "partial", "the life of a task is correct, other parts break the protocol"
	case directions > 0:
		return "partial", "the life of a task is correct, a direction between agents is broken"
	case calls.Failed > 0:
		return "partial", "all observed requirements are met; " + calls.String()
	case broken.count(analysis.Warning, analysis.Categories...) > 0:
		return "partial", "requirements are met; recommendations or options are not"
	case agent.Streaming && streamed == 0 || agent.Push && pushed == 0:
		return "minimal", "no violation observed; an advertised feature was not exercised: " +
			unexercised(agent, streamed, pushed)
	case lacking != "":
		return "minimal", "no violation observed; not observed: " + lacking
	case notSeen != "":
		return "minimal", "no violation observed; not seen: " + notSeen
	}
	return levelFull, "no violation observed; streaming " + Tested(agent.Streaming) + ", push " +
		Tested(agent.Push)
}

// unseen names the things that a full report needs but the traffic does not show: a task that completed, one that was
// canceled, and a call that was refused.
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

// Yes returns yes or no.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Tested returns why a feature does not lower a level.
func Tested(advertised bool) string {
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
