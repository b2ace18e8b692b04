package verdict

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/capture/notes"
)

// A Selection is the exchanges that --filter and --agent select.
type Selection struct {
	filter *filter.Filter
	agent  string
	Judged bool // the filter asks for findings, so the rules have to run first
	Linked bool // it uses workflows, so the links must be read first
	Noted  bool // it may use marks, so the notes must be read first

	Links *workflow.Index // nil until loaded, or if not needed
	Notes *notes.Notes    // nil until loaded, or if not needed
}

// ParseSelection reads the values of --filter and --agent. --agent selects the calls to an agent and the notifications
// that it sends. Notifications that it receives, as the client of another agent, belong to that agent.
func ParseSelection(expr, agent string) (Selection, error) {
	f, err := filter.Parse(expr)
	if err != nil {
		return Selection{}, cli.Usage("--filter %q: %w", expr, err)
	}
	if agent != "" && !cli.AgentName.MatchString(agent) {
		return Selection{}, cli.Usage("--agent %q is not a valid agent name, which consists of letters, digits, '.', '_' "+
			"and '-', or is HOST:PORT", agent)
	}
	return Selection{
		filter: f, agent: agent, Judged: f.Asks("rule", "severity", "side"), Linked: f.Asks("workflow"),
		Noted: f.Asks("is"),
	}, nil
}

// All reports whether everything is selected.
func (s Selection) All() bool { return s.filter.String() == "" && s.agent == "" }

// Match reports whether an exchange that has been read is selected.
func (s Selection) Match(x *capture.Exchange, facts reading.Facts) bool {
	if s.Links != nil {
		facts.Workflow = s.Links.Of(x.Seq).Workflow
	}
	facts.Marked = s.Notes.Of(x.Seq, x.ID).Marked
	link := analysis.Link{Client: x.Client.Name, Agent: x.Agent.Name}
	return s.isOf(link.Programs(facts.Operation())) && s.filter.Match(x, facts)
}

// isOf reports whether --agent selects exchanges in which programs play these parts.
func (s Selection) isOf(r analysis.Programs) bool { return s.agent == "" || r.Agent == s.agent }
