package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/replay/diff"
	"a2atap/replay/report"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/style"
)

// A diffSide is one of the two things that are compared: an exchange, or a task.
type diffSide struct {
	seq    uint64     // the exchange, or one of the task
	isTask bool       // all that is about the same task
	other  *load.Part // exchanges of another capture; nil if they are of the one that is shown
	name   string     // of the side where other is not nil
}

// words names the side.
func (s diffSide) words() string {
	switch {
	case s.other != nil:
		return s.name
	case s.isTask:
		return fmt.Sprintf("the task of %d", s.seq)
	}
	return fmt.Sprint(s.seq)
}

// diff compares the selected exchange, in a ladder its task, with the one that was chosen before: with this key, or by
// the only mark on another one. If there is none it is chosen itself.
func (m *inspector) diff(at analyzer.Place) tea.Cmd {
	_, inOneLadder := m.top().(*ladderPanel)
	now := diffSide{seq: at.Exchange, isTask: inOneLadder}
	was := m.doing.chosen
	m.doing.chosen = nil
	switch {
	case was == nil:
		var marked []uint64
		for _, note := range m.shared.Notes.All() {
			if note.Marked && note.Seq != now.seq {
				marked = append(marked, note.Seq)
			}
		}
		if len(marked) == 1 && !now.isTask {
			return m.openDiff(diffSide{seq: marked[0]}, now)
		}
		m.doing.chosen = &now
		m.shared.Message = fmt.Sprintf("D on another one compares it with %s; D on %d again forgets it", now.words(), now.seq)
		return nil
	case was.seq == now.seq:
		m.shared.Message = fmt.Sprintf("%s is not compared", was.words())
		return nil
	}
	if !was.isTask || !now.isTask {
		was.isTask, now.isTask = false, false
	}
	return m.openDiff(*was, now)
}

func (m *inspector) openDiff(was, now diffSide) tea.Cmd {
	d := newDiffPanel(m.shared, was, now)
	return tea.Batch(m.push(d), d.begin())
}

// compared is the message of loader.compare.
type compared struct {
	ticket uint64
	report *report.Report
	told   []style.Line // the report
	rows   []diffRow    // both sides, line by line
	err    error
}

// compareSides compares two sides as a2atap diff does.
func compareSides(l *load.Loader,
	ctx context.Context, ticket uint64, was, now diffSide, found map[uint64][]analyzer.Finding,
) tea.Cmd {
	return func() tea.Msg {
		msg := compared{ticket: ticket}
		var sides [2]*load.Part
		var names [2]string
		for i, s := range []diffSide{was, now} {
			if sides[i], names[i], msg.err = readSide(l, ctx, s, found); msg.err != nil {
				return msg
			}
		}
		a, b := sides[0], sides[1]
		msg.report, msg.err = diff.Run(ctx, a, b, diff.Options{
			KeepWas: a.Keep, KeepNow: b.Keep, FoundWas: a.Findings, FoundNow: b.Findings,
			Sides: report.Sides{Was: names[0], Now: names[1]},
		})
		if msg.err != nil {
			return msg
		}
		msg.told = reportLines(msg.report)
		msg.rows, msg.err = layBesides(l, ctx, a, b, msg.report)
		return msg
	}
}

// readSide reads what is to be compared, and names it.
func readSide(l *load.Loader, ctx context.Context, s diffSide, found map[uint64][]analyzer.Finding) (*load.Part, string, error) {
	if s.other != nil {
		return s.other, s.name, nil
	}
	name, seqs := fmt.Sprint(s.seq), []uint64{s.seq}
	if s.isTask {
		task, of, err := l.SameTask(ctx, s.seq)
		if err != nil {
			return nil, "", err
		}
		if seqs = of; task != "" {
			name = "task " + panel.ShortID(task)
		}
	}
	p, err := l.Part(ctx, seqs, found)
	return p, name, err
}

// The beginnings of pieces of a report while it is cut into lines. No text of a report has them: it is made safe for a
// terminal before.
const (
	inkBegins = '\x01'
	inkEnds   = '\x02'
)

// reportLines returns a report as lines of the screen: its verdict, then what differs.
func reportLines(r *report.Report) []style.Line {
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

// toldLine fits a line of a report to a width.
func toldLine(l style.Line, columns int) []style.Line {
	words := l.String()
	indent := len(words) - len(strings.TrimLeft(words, " ")) + 3
	return style.Text(style.Normal, " ").Join(l).WrapWords(max(columns-1, 8), indent)
}

// layBesides lays both sides out line by line: exchanges that were compared stand beside each other, ids are renamed by
// where they appear first.
func layBesides(l *load.Loader, ctx context.Context, a, b *load.Part, r *report.Report) ([]diffRow, error) {
	was, now := newLaidOut(l), newLaidOut(l)
	var rows []diffRow
	if len(a.Chosen) == 1 && len(b.Chosen) == 1 || len(r.Lines) == 0 {
		return inOrder(l, ctx, was, now, a, b)
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
func inOrder(l *load.Loader, ctx context.Context, was, now *laidOut, a, b *load.Part) ([]diffRow, error) {
	var texts [2][]style.Line
	for i, side := range []*load.Part{a, b} {
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
