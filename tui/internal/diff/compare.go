package diff

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	inks "a2atap/analyzer/report"
	"a2atap/replay/diff"
	"a2atap/replay/report"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
)

// A Side is one side of a comparison: an exchange, or a task.
type Side struct {
	Seq    uint64          // the exchange, or one of the task
	IsTask bool            // all that is about the same task
	Other  *load.Selection // exchanges of another capture; nil for the shown capture
	Name   string          // of the side where other is not nil
}

// Words returns a short name of the side: an exchange by its number.
func (s Side) Words() string {
	switch {
	case s.Other != nil:
		return s.Name
	case s.IsTask:
		return fmt.Sprintf("the task of %d", s.Seq)
	}
	return fmt.Sprint(s.Seq)
}

// name names the side for use in a sentence.
func (s Side) name() string {
	if s.Other == nil && !s.IsTask {
		return fmt.Sprintf("exchange %d", s.Seq)
	}
	return s.Words()
}

// compared is the message of compareSides.
type compared struct {
	ticket uint64
	report *report.Report
	told   []style.Line // the report
	rows   []row        // both sides, line by line
	err    error
}

// compareSides compares two sides as a2atap diff does.
func compareSides(
	ctx context.Context, l *load.Loader, ticket uint64, was, now Side, found map[uint64][]analysis.Finding,
) tea.Cmd {
	return func() tea.Msg {
		msg := compared{ticket: ticket}
		var sides [2]*load.Selection
		var names [2]string
		for i, s := range []Side{was, now} {
			if sides[i], names[i], msg.err = readSide(ctx, l, s, found); msg.err != nil {
				return msg
			}
		}
		a, b := sides[0], sides[1]
		each := report.OneExchange
		if was.IsTask {
			each = report.OneTask
		}
		msg.report, msg.err = diff.Run(ctx, a, b, diff.Options{
			KeepWas: a.Keep, KeepNow: b.Keep, FoundWas: a.Findings, FoundNow: b.Findings,
			Sides: report.Sides{Was: names[0], Now: names[1], Each: each},
		})
		if msg.err != nil {
			return msg
		}
		msg.told = ReportLines(msg.report)
		msg.rows, msg.err = layBesides(ctx, l, a, b, msg.report)
		return msg
	}
}

// readSide reads a side of a comparison, and names it.
func readSide(ctx context.Context, l *load.Loader, s Side, found map[uint64][]analysis.Finding) (*load.Selection, string, error) {
	if s.Other != nil {
		return s.Other, s.Name, nil
	}
	name, seqs := s.name(), []uint64{s.Seq}
	if s.IsTask {
		task, of, err := l.SameTask(ctx, s.Seq)
		if err != nil {
			return nil, "", err
		}
		if seqs = of; task != "" {
			name = "task " + panel.ShortID(task)
		}
	}
	p, err := l.Select(ctx, seqs, found)
	return p, name, err
}

// ReportLines returns a report as lines of the screen: its verdict, then the differences.
func ReportLines(r *report.Report) []style.Line {
	lines := []style.Line{style.Text(style.Title, r.Verdict()), {}}
	for _, row := range r.Rows() {
		var l style.Line
		for _, p := range row {
			l = l.Add(inkStyles[p.Ink], p.Text)
		}
		lines = append(lines, l)
	}
	return lines
}

var inkStyles = map[inks.Ink]style.Style{
	inks.Plain: style.Normal, inks.Heading: style.Strong, inks.Was: style.Error, inks.Now: style.String, inks.Aside: style.Dim,
}

// WrapReport fits a line of a report to a width.
func WrapReport(l style.Line, columns int) []style.Line {
	words := l.String()
	indent := len(words) - len(strings.TrimLeft(words, " ")) + 3
	return style.Text(style.Normal, " ").Join(l).WrapWords(max(columns-1, 8), indent)
}

// layBesides lays out both sides line by line. Compared exchanges are next to each other, and ids are renamed in order
// of first appearance.
func layBesides(ctx context.Context, l *load.Loader, a, b *load.Selection, r *report.Report) ([]row, error) {
	was, now := newLaidOut(l), newLaidOut(l)
	var rows []row
	if len(a.Chosen) == 1 && len(b.Chosen) == 1 || len(r.Lines) == 0 {
		return inOrder(ctx, l, was, now, a, b)
	}
	for _, pair := range r.Lines {
		left, err := was.exchange(ctx, a, pair.Exchange)
		if err != nil {
			return nil, err
		}
		right, err := now.exchange(ctx, b, pair.Live)
		if err != nil {
			return nil, err
		}
		rows = append(rows, beside(left, right)...)
	}
	return rows, nil
}

// inOrder lays out two sides of one exchange each, whether or not their meanings could be compared.
func inOrder(ctx context.Context, l *load.Loader, was, now *laidOut, a, b *load.Selection) ([]row, error) {
	var texts [2][]style.Line
	for i, side := range []*load.Selection{a, b} {
		out := []*laidOut{was, now}[i]
		for _, seq := range slices.Sorted(maps.Keys(side.Chosen)) {
			lines, err := out.exchange(ctx, side, seq)
			if err != nil {
				return nil, err
			}
			texts[i] = append(texts[i], lines...)
		}
	}
	return beside(texts[0], texts[1]), nil
}
