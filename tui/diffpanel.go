package tui

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A diffView is how a comparison is shown.
type diffView uint8

const (
	diffTold    diffView = iota // what differs, as a2atap diff prints it
	diffChanged                 // the lines that differ, with some around them
	diffAll                     // all lines of both sides
	diffViews
)

func (v diffView) String() string {
	return [...]string{"what differs", "lines that differ", "all lines"}[v]
}

// diffAround is how many equal lines are shown before and after those that differ.
const diffAround = 3

// A diffPanel compares two exchanges or two tasks.
type diffPanel struct {
	shared   *panel.Shared
	was, now diffSide
	ctx      context.Context
	leave    context.CancelFunc
	loading  uint64
	compared compared
	ready    bool
	mode     diffView
	lines    []style.Line // in this mode, for this width
	changes  []int        // of lines, those where differences begin
	window   panel.Window
	height   int
}

func newDiffPanel(s *panel.Shared, was, now diffSide) *diffPanel {
	d := &diffPanel{shared: s, was: was, now: now}
	d.ctx, d.leave = context.WithCancel(s.Load.Context)
	return d
}

func (d *diffPanel) Scope() keys.Scope { return keys.InDiff }

func (d *diffPanel) Title() string { return "diff of " + d.was.words() + " and " + d.now.words() }

func (d *diffPanel) Target() analyzer.Place { return analyzer.Place{} }

func (d *diffPanel) Status() string {
	if !d.ready {
		return ""
	}
	if n := len(d.compared.report.Differences); n > 0 {
		return text.Plural(n, "difference") + ", " + d.mode.String()
	}
	return d.mode.String()
}

// Leave ends what is under way, since the panel goes.
func (d *diffPanel) Leave() { d.leave() }

func (d *diffPanel) begin() tea.Cmd {
	d.loading = d.shared.Ticket()
	found := d.shared.Found.Within(1, d.shared.Info.Exchanges)
	return compareSides(d.shared.Load, d.ctx, d.loading, d.was, d.now, found)
}

func (d *diffPanel) Resize(width, height int) tea.Cmd {
	d.window.Width, d.height = width, height
	d.lay()
	return nil
}

func (d *diffPanel) Update(msg tea.Msg) tea.Cmd {
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

func (d *diffPanel) act(a keys.Action) {
	switch a {
	case keys.NextPane:
		d.mode = (d.mode + 1) % diffViews
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

// jump scrolls to the next difference in a direction.
func (d *diffPanel) jump(step int) {
	for i := range d.changes {
		at := d.changes[i]
		if step < 0 {
			at = d.changes[len(d.changes)-1-i]
		}
		if top := max(at-1, 0); (top-d.window.Top)*step > 0 {
			d.window.Top = top
			break
		}
	}
	d.window.Scroll(keys.None)
}

// lay makes the lines of the panel.
func (d *diffPanel) lay() {
	d.lines, d.changes = nil, nil
	if d.ready && d.mode == diffTold {
		for _, l := range d.compared.told {
			d.lines = append(d.lines, toldLine(l, d.window.Width)...)
		}
	} else if d.ready {
		d.layRows()
	}
	d.window.Height = max(d.height, 0)
	d.window.Height -= len(d.heading())
	d.window.Length = len(d.lines)
	d.window.Scroll(keys.None)
}

// layRows makes lines of both sides.
func (d *diffPanel) layRows() {
	rows := d.compared.rows
	shown := make([]bool, len(rows))
	for i := range rows {
		if d.mode == diffAll || !rows[i].same {
			for k := max(i-diffAround, 0); k <= min(i+diffAround, len(rows)-1) && d.mode != diffAll; k++ {
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
		d.lines = append([]style.Line{style.Text(style.Dim, " no line differs but for ids and times"), {}}, d.lines...)
	}
}

func (d *diffPanel) leftOut(rows int) {
	if rows > 0 {
		d.lines = append(d.lines, style.Text(style.Dim, fmt.Sprintf(" … %s", text.Plural(rows, "equal line"))))
	}
}

// row draws a row: both sides beside each other if there is room, else one above the other.
func (d *diffPanel) row(r *diffRow) {
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

// heading names the sides where they stand beside each other.
func (d *diffPanel) heading() []style.Line {
	half := (d.window.Width - 3) / 2
	if !d.ready || d.mode == diffTold || d.window.Height < 4 {
		return nil
	}
	if half < 48 {
		return []style.Line{style.Text(style.Error, "- "+d.was.words()).Add(style.Dim, "   ").Add(style.String, "+ "+d.now.words())}
	}
	return []style.Line{style.Text(style.Title, text.Pad(" "+d.was.words(), half)).Add(style.Dim, " │ ").Add(style.Title, d.now.words())}
}

func (d *diffPanel) View() []style.Line {
	switch {
	case d.compared.err != nil:
		return []style.Line{style.Text(style.Error, "! "+d.compared.err.Error())}
	case !d.ready:
		return []style.Line{style.Text(style.Dim, "  comparing …")}
	}
	return append(d.heading(), d.lines[min(d.window.Top, len(d.lines)):min(d.window.Bottom(), len(d.lines))]...)
}
