package report

import (
	"io"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/safetext"
)

// A Tool names the program that made a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A Document is the JSON form of a result.
type Document struct {
	Tool      Tool          `json:"tool"`
	Captures  []string      `json:"captures"`
	Exchanges int           `json:"exchanges"`
	Findings  []Finding     `json:"findings"`
	Coverage  []Coverage    `json:"coverage"`
	Calls     []Calls       `json:"calls"`
	Verdict   Verdict       `json:"verdict"`
	Reports   []Conformance `json:"reports"`

	Directions []Direction `json:"directions,omitempty"` // between two agents
}

// A Finding is one finding as JSON.
type Finding struct {
	Rule        string   `json:"rule"`
	Level       string   `json:"level"`
	Severity    string   `json:"severity"`
	Side        string   `json:"side"`
	Program     string   `json:"program,omitempty"` // that broke the rule; absent if no program is at fault
	Dialect     string   `json:"dialect"`
	Binding     string   `json:"binding"`
	Link        string   `json:"link"`
	Capture     string   `json:"capture"`
	Exchange    uint64   `json:"exchange"`
	ExchangeID  string   `json:"exchangeId"`
	Place       string   `json:"place"`
	Seen        string   `json:"seen"`
	Expected    string   `json:"expected"`
	Message     string   `json:"message"`
	Sections    []string `json:"sections"`
	Also        []string `json:"also"`
	Fingerprint string   `json:"fingerprint"`
	Critical    bool     `json:"critical,omitempty"` // the agent was gone at the end, or never reached
	Revises     bool     `json:"revises,omitempty"`  // it replaces an earlier finding
	Failure     string   `json:"failure,omitempty"`  // the failure of the call in whose exchange it is
	Workflow    uint64   `json:"workflow,omitempty"` // the exchange that began the request of a user; absent if not known
	Times       int      `json:"times,omitempty"`    // how often its link met its cause; absent for a finding of one place
}

// A Coverage is how often one rule applied on one link, as JSON.
type Coverage struct {
	Rule    string `json:"rule"`
	Link    string `json:"link"`
	Applied int    `json:"applied"`
	Broken  int    `json:"broken"`

	Notifications bool `json:"notifications,omitempty"` // it counts notifications, whose sender is the agent; otherwise calls
}

// A Calls has the results of the calls of one link, as JSON.
type Calls struct {
	Link      string    `json:"link"`
	Calls     int       `json:"calls"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed"`
	Failures  []Failure `json:"failures"`
	Refused   int       `json:"refused"` // requests that could not be fulfilled, which is no failure
	Refusals  []Failure `json:"refusals,omitempty"`
	Unknown   int       `json:"unknown"` // with an outcome that was not recorded

	Tasks       int       `json:"tasks,omitempty"`       // that were worked on
	TasksFailed int       `json:"tasksFailed,omitempty"` // of them: failed, rejected, or canceled unasked
	TaskEnds    []Failure `json:"taskEnds,omitempty"`    // by how these ended
}

// A Failure is an error, by name, and how many calls failed with it.
type Failure struct {
	Error string `json:"error"`
	Count int    `json:"count"`
}

// A Verdict is the sum of a result as JSON.
type Verdict struct {
	Status    string `json:"status"`
	Error     int    `json:"error"`
	Warning   int    `json:"warning"`
	Note      int    `json:"note"`
	Baselined int    `json:"baselined"`
	Exchanges int    `json:"exchanges"`
	Judged    int    `json:"judged"`
	Lost      int64  `json:"lost"`
	Crashes   int    `json:"crashes,omitempty"`     // captures whose recorder was killed: some traffic may be missing
	Forgotten int    `json:"forgotten,omitempty"`   // dropped to bound memory: rules are silent on it
	Made      int    `json:"faultsMade,omitempty"`  // exchanges in which the recorder made a fault
	Unseen    int    `json:"notObserved,omitempty"` // upgrades and tunnels, whose traffic was not observed
	Insecure  bool   `json:"insecure,omitempty"`    // agents on TLS were not verified
	Live      bool   `json:"live,omitempty"`        // the recording continues: this is the state so far

	Calls       int       `json:"calls"`
	CallsFailed int       `json:"callsFailed"`
	Failures    []Failure `json:"failures"` // most frequent first

	FailedCalls []FailedCall `json:"failedCalls"`
	NotSeen     []NotSeen    `json:"notSeen"`

	Tasks       int          `json:"tasks"` // that were worked on
	TasksFailed int          `json:"tasksFailed"`
	FailedTasks []FailedCall `json:"failedTasks"`

	Others []FailedCall `json:"otherCalls,omitempty"` // failed calls of models and MCP servers

	Refused  int          `json:"callsRefused,omitempty"`
	Refusals []FailedCall `json:"refusedCalls,omitempty"`

	Known    int      `json:"callsKnown,omitempty"`          // of those that failed, how many a baseline accepts
	Unproved []string `json:"unproved,omitempty"`            // links with calls, none of which is known to have succeeded
	Unheard  []string `json:"webhooksNotObserved,omitempty"` // links whose notifications went past the recorder
	Blind    []string `json:"blind,omitempty"`               // links of which at least half was not seen
	Failing  []string `json:"failing,omitempty"`             // links at least half of whose calls or tasks failed
	Nothing  string   `json:"nothing,omitempty"`             // why the selection is empty
	Critical []string `json:"critical,omitempty"`            // agents that were gone at the end, or never reached
	Tests    *Tally   `json:"tests,omitempty"`               // of active tests

	KnownCalls []FailedCall `json:"knownCalls,omitempty"` // calls and tasks that failed as is accepted
	Statements []Statement  `json:"statements"`           // all of the verdict, as every format states it
	Exit       int          `json:"exit"`                 // the exit status: 0, 1 or 4
}

// JSON writes a report as one document. The gate decides the verdict's status.
func JSON(w io.Writer, whole *Report) error {
	r := whole.Result
	doc := Document{
		Tool: whole.Tool, Captures: append([]string{}, r.Captures...), Exchanges: r.Counts.Exchanges,
		Findings: []Finding{}, Coverage: []Coverage{}, Calls: []Calls{}, Reports: Conformances(whole),
		Directions: whole.Directions,
	}
	for i := range r.Findings {
		doc.Findings = append(doc.Findings, JSONFinding(&r.Findings[i]))
	}
	for _, c := range r.Coverage {
		doc.Coverage = append(doc.Coverage, Coverage{c.Rule.ID, c.Link.String(), c.Applied, c.Broken, c.Notifications})
	}
	for i := range r.Calls {
		c := r.Calls[i].Settled()
		if c.Made == 0 && c.Tasks == 0 {
			continue
		}
		doc.Calls = append(doc.Calls, Calls{
			Link: c.Link.String(), Calls: c.Made, Succeeded: c.Succeeded, Failed: c.Failed, Failures: failures(c.ByError()),
			Refused: c.Refused, Refusals: failures(c.ByRefusal()), Unknown: c.Unknown(),
			Tasks: c.Tasks, TasksFailed: c.TasksFailed, TaskEnds: failures(c.ByEnd()),
		})
	}
	doc.Verdict = JSONVerdict(whole)
	return encode(w, doc, "  ")
}

// JSONVerdict returns the sum of a report as JSON. The gate decides its status.
func JSONVerdict(whole *Report) Verdict {
	v := whole.verdict()
	sum := Verdict{
		Status: string(v.Status), Error: v.Errors, Warning: v.Warnings, Note: v.Notes, Baselined: v.Baselined,
		Exchanges: v.Exchanges, Judged: v.Judged, Lost: v.Lost, Crashes: len(v.Crashes),
		Forgotten: v.Forgotten, Unseen: v.Unseen, Made: v.Made, Live: v.Live, Insecure: v.Insecure,
		Calls: v.Calls.Made, CallsFailed: v.Calls.Failed, Failures: failures(v.Calls.ByError()), Critical: v.Critical.Agents(),
		FailedCalls: jsonCalls(v.Failed), Others: jsonCalls(v.Others), NotSeen: jsonNotSeen(v.NotSeen), Refused: v.Calls.Refused,
		Known: v.Calls.Known, Tasks: v.Calls.Tasks, TasksFailed: v.Calls.TasksFailed, FailedTasks: jsonCalls(v.Tasks),
		Refusals: jsonCalls(v.Refused), Nothing: v.Nothing, KnownCalls: jsonCalls(v.Known),
		Statements: jsonStatements(whole.statements()), Exit: v.Exit.Status(),
	}
	if whole.Tests != nil {
		t := whole.Tally()
		sum.Tests = &t
	}
	sum.Unproved, sum.Blind, sum.Failing = linkNames(v.Unproved), linkNames(v.Blind), linkNames(v.Failing)
	for _, link := range v.Unheard {
		sum.Unheard = append(sum.Unheard, link.String())
	}
	return sum
}

func linkNames(list []judgment.Calls) (names []string) {
	for i := range list {
		names = append(names, list[i].Link.String())
	}
	return names
}

func failures(by []judgment.Failure) []Failure {
	list := []Failure{}
	for _, f := range by {
		list = append(list, Failure{analysis.Clean(f.Error), f.Count})
	}
	return list
}

// JSONFinding returns one finding in its JSON form.
func JSONFinding(f *analysis.Finding) Finding {
	also := f.Also
	if also == nil {
		also = []string{}
	}
	return Finding{
		Rule: f.Rule.ID, Level: f.Rule.Level.String(), Severity: f.Severity.String(), Side: f.Side.String(),
		Program: f.Program(),
		Dialect: f.Dialects.String(), Binding: f.Binding.String(), Link: f.Link.String(), Capture: f.Capture,
		Exchange: f.Place.Exchange, ExchangeID: f.ExchangeID.String(), Place: f.Place.String(),
		Seen: f.Seen, Expected: f.Wanted(), Message: f.Message(), Sections: f.Sections(), Also: also,
		Fingerprint: f.Fingerprint(), Critical: f.Rule.Critical != analysis.Present, Revises: f.Revises,
		Failure: analysis.Clean(f.Failure), Workflow: f.Workflow.Number, Times: f.Times,
	}
}

func encode(w io.Writer, v any, indent string) error {
	return safetext.NewEncoder(w, indent).Encode(v)
}

// FindingLine writes one finding as a line of JSON, as record prints them.
func FindingLine(w io.Writer, f *analysis.Finding) error { return encode(w, JSONFinding(f), "") }
