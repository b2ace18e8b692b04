package diff

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/replay/diff"
	"a2atap/replay/report"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
)

// A Side is one of the two things that are compared: an exchange, or a task.
type Side struct {
	Seq    uint64          // the exchange, or one of the task
	IsTask bool            // all that is about the same task
	Other  *load.Selection // exchanges of another capture; nil if they are of the one that is shown
	Name   string          // of the side where other is not nil
}

// Words names the side in short: an exchange by its number.
func (s Side) Words() string {
	switch {
	case s.Other != nil:
		return s.Name
	case s.IsTask:
		return fmt.Sprintf("the task of %d", s.Seq)
	}
	return fmt.Sprint(s.Seq)
}

// name names the side where words stand around it.
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

// readSide reads what is to be compared, and names it.
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

// The beginnings of pieces of a report while it is cut into lines. No text of a report has them: it is made safe for a
// terminal before.
const (
	inkBegins = '\x01'
	inkEnds   = '\x02'
)

// ReportLines returns a report as lines of the screen: its verdict, then what differs.
func ReportLines(r *report.Report) []style.Line {
	var b strings.Builder
	report.Painted(&b, r, func(ink report.Ink, words string) string { //nolint:errcheck // memory takes all
		return string(inkBegins) + string(rune('0'+ink)) + words + string(inkEnds)
	})
	lines := []style.Line{style.Text(style.Title, r.Verdict()), {}}
	for row := range strings.Lines(b.String()) {
		lines = append(lines, paintedLine(strings.TrimSuffix(row, "\n")))
	}
	return lines
}

var inkStyles = map[report.Ink]style.Style{
	report.Plain: style.Normal, report.Heading: style.Strong, report.Was: style.Error, report.Now: style.String,
	report.Aside: style.Dim,
}

func paintedLine(row string) (l style.Line) {
	for row != "" {
		plain, rest, found := strings.Cut(row, string(inkBegins))
		l = l.Add(style.Normal, plain)
		if !found || rest == "" {
			return l
		}
		words, after, _ := strings.Cut(rest[1:], string(inkEnds))
		l = l.Add(inkStyles[report.Ink(rest[0]-'0')], words)
		row = after
	}
	return l
}

// WrapReport fits a line of a report to a width.
func WrapReport(l style.Line, columns int) []style.Line {
	words := l.String()
	indent := len(words) - len(strings.TrimLeft(words, " ")) + 3
	return style.Text(style.Normal, " ").Join(l).WrapWords(max(columns-1, 8), indent)
}

// layBesides lays both sides out line by line: exchanges that were compared stand beside each other, ids are renamed by
// where they appear first.
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

// inOrder lays out two sides of one exchange each, whether or not they could be compared by meaning.
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
