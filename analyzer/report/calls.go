package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/markup"
)

// maxCalls bounds the groups of failed calls that a report for people names.
const maxCalls = 50

// A section is the statements of a verdict that a report for people has under one heading.
type section struct {
	Head       string
	statements []judgment.Statement
}

// sections returns the statements under their headings, but those about subjects that the report shows as tables. It
// leaves out headings without statements.
func sections(list []judgment.Statement, tables ...judgment.Subject) []section {
	all := []section{{Head: "not seen"}, {Head: "calls and tasks"}, {Head: "the record"}}
	for _, s := range list {
		if !slices.Contains(tables, s.Subject) {
			one := &all[s.Subject.Group()]
			one.statements = append(one.statements, s)
		}
	}
	return slices.DeleteFunc(all, func(s section) bool { return len(s.statements) == 0 })
}

// Title returns the heading as one of a page.
func (s section) Title() string { return title(s.Head) }

// Lines returns the statements, each with the first exchange that it is about.
func (s section) Lines() []string {
	lines := make([]string, 0, len(s.statements))
	for _, one := range s.statements {
		lines = append(lines, one.String())
	}
	return lines
}

// callTables are the subjects that reports show as lists or tables of their own.
var callTables = []judgment.Subject{
	judgment.AboutFailed, judgment.AboutRefused, judgment.AboutTasks, judgment.AboutKnown, judgment.AboutOthers,
}

// A linkCalls has the results of the calls of a link.
type linkCalls struct {
	Link                                      string
	Made, Succeeded, Refused, Failed, Unknown int    // the last four add up to the first
	Unproved                                  bool   // no call is known to have succeeded
	Errors                                    string // each with its count, or a dash
}

// callsOnLinks returns the results of the calls of each link that had any.
func callsOnLinks(r *judgment.Result) (list []linkCalls) {
	for i := range r.Calls {
		c := r.Calls[i].Settled()
		if c.Made == 0 {
			continue
		}
		var errs []string
		for _, f := range c.ByError() {
			errs = append(errs, fmt.Sprintf("%s %d", f.Error, f.Count))
		}
		for _, f := range c.ByRefusal() {
			errs = append(errs, fmt.Sprintf("%s %d (refused)", f.Error, f.Count))
		}
		if c.Unheard {
			errs = append(errs, "webhooks not observed")
		}
		list = append(list, linkCalls{
			arrow(c.Link), c.Made, c.Succeeded, c.Refused, c.Failed, c.Unknown(), !c.Proved(), orDash(strings.Join(errs, ", ")),
		})
	}
	return list
}

// A callGroup is the failed calls, or tasks, that a report for people has under one heading.
type callGroup struct {
	Head  string
	Calls []judgment.FailedCalls
}

// Title returns the heading as one of a page.
func (g callGroup) Title() string { return title(g.Head) }

// failures returns the failed calls and tasks, without empty groups. For agents that were tested actively, where some
// calls should fail, it returns nil.
func (r *Report) failures() []callGroup {
	if r.Tests != nil {
		return nil
	}
	v := r.verdict()
	return slices.DeleteFunc([]callGroup{
		{"failed calls", v.Failed},
		{"refused calls", v.Refused},
		{"failed tasks", v.Tasks},
		{"accepted failures", v.Known},
		{"other calls that failed", v.Others},
	}, func(g callGroup) bool { return len(g.Calls) == 0 })
}

// answersText states the verdict: unseen traffic, failed or refused calls, failed tasks, and other facts about the
// record.
func answersText(b *strings.Builder, r *Report) {
	for _, s := range sections(r.statements(), callTables...) {
		b.WriteString(s.Head + "\n")
		for _, line := range s.Lines() {
			b.WriteString("  " + line + "\n")
		}
	}
	for _, g := range r.failures() {
		b.WriteString(g.Head + "\n")
		for i := range g.Calls[:min(len(g.Calls), maxCalls)] {
			fmt.Fprintf(b, "  %s (%s)\n", &g.Calls[i], arrow(g.Calls[i].Link))
		}
		if more := len(g.Calls) - maxCalls; more > 0 {
			fmt.Fprintf(b, "  and %s more\n", analysis.Plural(more, "kind"))
		}
	}
}

// mdAnswers is answersText as lists and tables.
func mdAnswers(b *strings.Builder, r *Report) {
	for _, s := range sections(r.statements(), callTables...) {
		fmt.Fprintf(b, "## %s\n\n", s.Title())
		for _, line := range s.Lines() {
			b.WriteString("- " + markup.Text(line) + "\n")
		}
		b.WriteString("\n")
	}
	for _, g := range r.failures() {
		rows := [][]string{{"First", "Link", "Operation", "Error", "Message", "How often", "Findings"}}
		for i := range g.Calls[:min(len(g.Calls), maxCalls)] {
			f := &g.Calls[i]
			rows = append(rows, []string{
				exchangeOrDash(f.Exchange), markup.Text(arrow(f.Link)), markup.Text(f.Operation), markup.Text(f.Error),
				orDash(markup.Text(f.Text)), fmt.Sprint(f.Count), orDash(markup.Text(strings.Join(f.Rules, ", "))),
			})
		}
		fmt.Fprintf(b, "## %s\n\n", g.Title())
		markup.Table(b, rows)
		if more := len(g.Calls) - maxCalls; more > 0 {
			fmt.Fprintf(b, "And %s more.\n\n", analysis.Plural(more, "kind"))
		}
	}
}

func exchangeOrDash(n uint64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

// A FailedCall is a group of calls that failed alike, or of tasks, as JSON.
type FailedCall struct {
	Capture   string `json:"capture,omitempty"`
	Exchange  uint64 `json:"exchange"` // the first of them
	Link      string `json:"link"`
	Binding   string `json:"binding"`
	Operation string `json:"operation"`
	Error     string `json:"error"`
	Code      string `json:"code,omitempty"`
	Text      string `json:"text"`
	Count     int    `json:"count"`

	Rules []string `json:"rules,omitempty"` // whose findings are in their exchanges
}

// A Statement is one sentence of the verdict, as JSON.
type Statement struct {
	Subject  string `json:"subject"` // such as "lost", "crash" or "failed-calls"
	Text     string `json:"text"`
	Exchange uint64 `json:"exchange,omitempty"` // the first one that it is about
	Exit     int    `json:"exit,omitempty"`     // the exit status that it alone makes: 1 or 4; absent if it only informs
}

func jsonStatements(list []judgment.Statement) []Statement {
	out := []Statement{}
	for _, s := range list {
		out = append(out, Statement{string(s.Subject), s.Text, s.Exchange, s.Exit.Status()})
	}
	return out
}

// A NotSeen is something that was not seen, as JSON.
type NotSeen struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Count int    `json:"count"`
}

func jsonCalls(list []judgment.FailedCalls) []FailedCall {
	calls := []FailedCall{}
	for i := range list {
		f := &list[i]
		calls = append(calls, FailedCall{
			analysis.Clean(f.Capture), f.Exchange, f.Link.String(), f.Binding.String(), analysis.Clean(f.Operation),
			analysis.Clean(f.Error), f.Code, analysis.Clean(f.Text), f.Count, f.Rules,
		})
	}
	return calls
}

func jsonNotSeen(list []judgment.NotSeen) []NotSeen {
	gaps := []NotSeen{}
	for i := range list {
		gaps = append(gaps, NotSeen{analysis.Clean(list[i].What), analysis.Clean(list[i].Why), list[i].Count})
	}
	return gaps
}
