package report

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/junit"
	"a2atap/analyzer/report/markup"
)

// maxCalls bounds the groups of failed calls that a report for people names.
const maxCalls = 50

// answersText says what was not seen, which calls failed or were refused, and which tasks failed: the two questions
// before that for rules.
func answersText(b *strings.Builder, v judgment.Verdict) {
	if len(v.NotSeen) > 0 {
		b.WriteString("not seen\n")
		for i := range v.NotSeen {
			fmt.Fprintf(b, "  %s%s\n", &v.NotSeen[i], from(v.NotSeen[i].Exchange))
		}
	}
	callsText(b, "failed calls", v.Failed)
	callsText(b, "refused calls", v.Refused)
	callsText(b, "failed tasks", v.Tasks)
}

func callsText(b *strings.Builder, head string, list []judgment.FailedCalls) {
	if len(list) == 0 {
		return
	}
	b.WriteString(head + "\n")
	for i := range list {
		if i == maxCalls {
			fmt.Fprintf(b, "  and %s more\n", analysis.Plural(len(list)-i, "kind"))
			return
		}
		fmt.Fprintf(b, "  %s (%s)\n", &list[i], arrow(list[i].Link))
	}
}

// from says with which exchange something begins, as the end of a line.
func from(exchange uint64) string {
	if exchange == 0 {
		return ""
	}
	return fmt.Sprintf(" (from %d)", exchange)
}

// mdAnswers is answersText as tables.
func mdAnswers(b *strings.Builder, v judgment.Verdict) {
	if len(v.NotSeen) > 0 {
		rows := [][]string{{"Not seen", "Why", "How often", "First"}}
		for i := range v.NotSeen {
			n := &v.NotSeen[i]
			rows = append(rows, []string{markup.Text(n.What), markup.Text(n.Why), fmt.Sprint(n.Count), exchangeOrDash(n.Exchange)})
		}
		b.WriteString("## Not seen\n\n")
		markup.Table(b, rows)
	}
	mdFailedCalls(b, "Failed calls", v.Failed)
	mdFailedCalls(b, "Refused calls", v.Refused)
	mdFailedCalls(b, "Failed tasks", v.Tasks)
}

func mdFailedCalls(b *strings.Builder, head string, list []judgment.FailedCalls) {
	if len(list) == 0 {
		return
	}
	rows := [][]string{{"First", "Link", "Operation", "Error", "What it says", "How often", "Findings"}}
	for i := range list {
		if i == maxCalls {
			break
		}
		f := &list[i]
		rows = append(rows, []string{
			exchangeOrDash(f.Exchange), markup.Text(arrow(f.Link)), markup.Text(f.Operation), markup.Text(f.Error),
			orDash(markup.Text(f.Text)), fmt.Sprint(f.Count), orDash(markup.Text(strings.Join(f.Rules, ", "))),
		})
	}
	fmt.Fprintf(b, "## %s\n\n", head)
	markup.Table(b, rows)
	if len(list) > maxCalls {
		fmt.Fprintf(b, "And %s more.\n\n", analysis.Plural(len(list)-maxCalls, "kind"))
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

	Rules []string `json:"rules,omitempty"` // whose findings stand in their exchanges
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

// junitCalls returns the case that says how the calls of a link came out: it has failed where at least half of them did,
// or where one is to fail the check.
func (r *Report) junitCalls(c *judgment.Calls, name string, failed []judgment.FailedCalls) junit.Case {
	var lines strings.Builder
	for i := range failed {
		if f := &failed[i]; f.Link == c.Link {
			lines.WriteString(f.String() + "\n")
		}
	}
	one := junit.Case{Name: strings.TrimSpace("calls " + name), Class: "a2atap.outcome"}
	if c.Failing() || r.Calls && c.New() > 0 {
		text := c.String()
		if !c.Proved() {
			text = "no call succeeded: " + text
		}
		one.Failure = &junit.Message{Message: text, Type: "outcome", Text: lines.String()}
		return one
	}
	one.Out = c.String() + "\n" + lines.String()
	return one
}
