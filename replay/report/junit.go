package report

import (
	"fmt"
	"io"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/analyzer/report/junit"
	"a2atap/replay/compare"
)

// JUnit writes the report as a JUnit test suite: a case for each exchange, skipped if it was left out, and one for
// each difference that belongs to no exchange. The failure of a consequence names its cause. The output of the suite
// is the verdict.
func JUnit(w io.Writer, r *Report) error { return junit.WriteAlone(w, r.suite()) }

func (r *Report) suite() junit.Suite {
	suite := junit.Suite{Name: analysis.Clean(r.verb() + " " + r.Capture), Out: analysis.Clean(r.Verdict()) + "\n"}
	t := newTracer(r)
	t.trace()
	failures, others := t.failures()
	for i := range r.Lines {
		l := &r.Lines[i]
		c := junit.Case{Name: junitName(l), Class: "exchanges", Failure: failures[l]}
		if c.Failure == nil && l.Status == LeftOut {
			c.Skipped = &junit.Message{Message: analysis.Clean(l.Why)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Cases = append(suite.Cases, others...)
	if len(suite.Cases) == 0 { // an empty suite would look like success
		suite.Cases = []junit.Case{{Name: "exchanges", Class: "exchanges", Skipped: &junit.Message{Message: suite.Out}}}
	}
	return suite
}

func junitName(l *Line) string {
	if l.Exchange == 0 {
		return fmt.Sprintf("new %d %s", l.Live, l.Operation)
	}
	return fmt.Sprintf("%d %s", l.Exchange, l.Operation)
}

// failures returns the failure of each line, and cases for differences of no line.
func (t *tracer) failures() (of map[*Line]*junit.Message, others []junit.Case) {
	of = map[*Line]*junit.Message{}
	for i := range t.Differences {
		d, l := &t.Differences[i], t.lines[i]
		message := &junit.Message{Message: analysis.Clean(brief(d.Summary())), Text: t.details(i)}
		switch {
		case l == nil || d.Kind == compare.DifferentFinding:
			others = append(others, junit.Case{
				Name: fmt.Sprintf("%s %d", d.Kind, len(others)+1), Class: "not about a single answer", Failure: message,
			})
		case of[l] == nil:
			of[l] = message
		default:
			of[l].Text += message.Text
		}
	}
	return of, others
}

// details writes one difference as text.
func (t *tracer) details(i int) string {
	d := &t.Differences[i]
	var w text
	w.line(0, Piece{report.Plain, d.String()})
	if where := t.exchange(d.Exchange, d.Live); where != "" {
		w.line(2, Piece{report.Plain, where})
	}
	for _, c := range d.Changes {
		w.change(2, excerpt(c))
	}
	if root := &t.Differences[t.root[i]]; root != d {
		cause := Group{Operation: t.operation(t.root[i]), Differences: []compare.Difference{*root}}
		w.line(2, Piece{report.Plain, "follows from " + t.exchange(root.Exchange, root.Live) + ": " + headline(&cause)})
	}
	return paint(w, nil)
}
