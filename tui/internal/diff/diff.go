// Package diff is the panel that compares two exchanges or two tasks. It shows the differences in meaning, as a2atap
// diff prints them. It also shows both sides line by line, with ids renamed and times omitted, so that only relevant
// parts differ.
package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A mode is how a comparison is shown.
type mode uint8

const (
	told         mode = iota // differences, as a2atap diff prints them
	changedLines             // the lines that differ, with some around them
	allLines                 // all lines of both sides
	modes
)

func (v mode) String() string {
	return [...]string{"what differs", "lines that differ", "all lines"}[v]
}

// around is the number of equal lines shown before and after differing ones.
const around = 3

// A Panel compares two exchanges or two tasks.
type Panel struct {
	shared   *panel.Shared
	was, now Side
	ctx      context.Context
	leave    context.CancelFunc
	loading  uint64
	compared compared
	ready    bool
	mode     mode
	lines    []style.Line // for this mode and width
	changes  []int        // of lines, those where differences begin
	window   panel.Window
	height   int
}

// New returns the comparison of two sides. Begin reads the sides.
func New(s *panel.Shared, was, now Side) *Panel {
	d := &Panel{shared: s, was: was, now: now}
	d.ctx, d.leave = context.WithCancel(s.Load.Context)
	return d
}

func (d *Panel) Scope() keys.Scope { return keys.InDiff }

func (d *Panel) Title() string { return "diff of " + d.was.Words() + " and " + d.now.Words() }

func (d *Panel) Target() analysis.Place { return analysis.Place{} }

func (d *Panel) Status() string {
	if !d.ready {
		return ""
	}
	if n := len(d.compared.report.Differences); n > 0 {
		return text.Plural(n, "difference") + ", " + d.mode.String()
	}
	return d.mode.String()
}

// Leave cancels running work. Call it when the panel closes.
func (d *Panel) Leave() { d.leave() }

func (d *Panel) Begin() tea.Cmd {
	d.loading = d.shared.Ticket()
	found := d.shared.Found.Within(1, d.shared.Info.Exchanges)
	return compareSides(d.ctx, d.shared.Load, d.loading, d.was, d.now, found)
}

func (d *Panel) Resize(width, height int) tea.Cmd {
	d.window.Width, d.height = width, height
	d.lay()
	return nil
}

func (d *Panel) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case compared:
		if msg.ticket == d.loading {
			d.loading, d.compared, d.ready = 0, msg, msg.err == nil
			d.lay()
		}
	case keys.Action:
		d.act(msg)
	}
	return nil
}

func (d *Panel) act(a keys.Action) {
	switch a {
	case keys.NextPane:
		d.mode = (d.mode + 1) % modes
		d.window.Top = 0
		d.lay()
	case keys.NextFinding:
		d.jump(1)
	case keys.PreviousFinding:
		d.jump(-1)
	default:
		d.window.Scroll(a)
	}
}

// jump scrolls to the next difference in a direction, wrapping around at the end.
func (d *Panel) jump(step int) {
	if len(d.changes) == 0 {
		return
	}
	last := max(d.window.Length-d.window.Height, 0)
	tops := make([]int, len(d.changes)) // the window's position at each
	for i, at := range d.changes {
		tops[i] = min(max(at-1, 0), last)
	}
	if step < 0 {
		slices.Reverse(tops)
	}
	i := slices.IndexFunc(tops, func(top int) bool { return (top-d.window.Top)*step > 0 })
	switch to := tops[max(i, 0)]; {
	case to == d.window.Top:
		d.shared.Message = "no further difference"
	case i < 0:
		d.shared.Message = panel.OnFrom("difference", step)
		fallthrough
	default:
		d.window.Top = to
	}
}

// lay builds the lines of the panel.
func (d *Panel) lay() {
	d.lines, d.changes = nil, nil
	if d.ready && d.mode == told {
		for _, l := range d.compared.told {
			if number, _, is := strings.Cut(l.String(), ". "); is && strings.Trim(number, "0123456789") == "" {
				d.changes = append(d.changes, len(d.lines))
			}
			d.lines = append(d.lines, WrapReport(l, d.window.Width)...)
		}
	} else if d.ready {
		d.layRows()
	}
	d.window.Height = max(d.height, 0)
	d.window.Height -= len(d.heading())
	d.window.Length = len(d.lines)
	d.window.Scroll(keys.None)
}

// layRows builds lines of both sides.
func (d *Panel) layRows() {
	rows := d.compared.rows
	shown := make([]bool, len(rows))
	for i := range rows {
		if d.mode == allLines || !rows[i].same {
			for k := max(i-around, 0); k <= min(i+around, len(rows)-1) && d.mode != allLines; k++ {
				shown[k] = true
			}
			shown[i] = true
		}
	}
	left := 0
	for i := range rows {
		if !shown[i] {
			left++
			continue
		}
		d.leftOut(left)
		left = 0
		if !rows[i].same && (i == 0 || rows[i-1].same) {
			d.changes = append(d.changes, len(d.lines))
		}
		d.row(&rows[i])
	}
	d.leftOut(left)
	if len(d.changes) == 0 {
		d.lines = append([]style.Line{style.Text(style.Dim, " no line differs, except for ids and times"), {}}, d.lines...)
	}
}

func (d *Panel) leftOut(rows int) {
	if rows > 0 {
		d.lines = append(d.lines, style.Text(style.Dim, fmt.Sprintf(" … %s", text.Plural(rows, "equal line"))))
	}
}

// row draws a row: both sides next to each other if there is room, else one above the other.
func (d *Panel) row(r *row) {
	if half := (d.window.Width - 3) / 2; half >= 48 {
		sign, look := " │ ", style.Dim
		if !r.same {
			sign, look = " ≠ ", style.Warning
		}
		was := style.Text(style.Normal, " ").Join(r.was)
		row := was.Fit(half)
		row = row.Add(style.Normal, text.Blanks(half-text.Width(row.String()))).Add(look, sign)
		d.lines = append(d.lines, row.Join(r.now))
		return
	}
	switch {
	case r.same:
		d.lines = append(d.lines, style.Text(style.Normal, "  ").Join(r.now))
		return
	case r.hasWas:
		d.lines = append(d.lines, style.Text(style.Error, "- ").Join(r.was))
	}
	if r.hasNow {
		d.lines = append(d.lines, style.Text(style.String, "+ ").Join(r.now))
	}
}

// heading names the sides if they are next to each other.
func (d *Panel) heading() []style.Line {
	half := (d.window.Width - 3) / 2
	if !d.ready || d.mode == told || d.window.Height < 4 {
		return nil
	}
	if half < 48 {
		return []style.Line{style.Text(style.Error, "- "+d.was.name()).Add(style.Dim, "   ").Add(style.String, "+ "+d.now.name())}
	}
	return []style.Line{style.Text(style.Title, text.Pad(" "+d.was.name(), half)).Add(style.Dim, " │ ").Add(style.Title, d.now.name())}
}

func (d *Panel) View() []style.Line {
	switch {
	case d.compared.err != nil:
		return panel.Failure(d.compared.err, d.window.Width)
	case !d.ready:
		return []style.Line{style.Text(style.Dim, "  comparing …")}
	}
	return append(d.heading(), d.lines[min(d.window.Top, len(d.lines)):min(d.window.Bottom(), len(d.lines))]...)
}
