package ladder

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/chart"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A waterfall shows the time spans of the exchanges of a task or a workflow. Each has a row with a bar from its start
// to its end on a common time axis.
type waterfall struct {
	shared *panel.Shared
	lanes  []lane
	window panel.Window // over lanes
	height int
	total  time.Duration // from the first start to the last end
}

// waterfallPreview is the number of lines at the bottom that describe the selected exchange.
const waterfallPreview = 5

func (f *waterfall) Resize(width, height int) {
	f.window.Width, f.height = width, max(height, 0)
	f.window.Height = max(height-1, 0)
	if height >= 14 {
		f.window.Height = height - 1 - waterfallPreview
	}
	f.window.Reveal()
}

// set replaces the lanes. The same exchange stays selected.
func (f *waterfall) set(lanes []lane) {
	selected := f.selected()
	f.lanes, f.total = lanes, 0
	for i := range lanes {
		f.total = max(f.total, f.after(i)+lanes[i].until)
	}
	if f.total == 0 {
		f.total = time.Millisecond
	}
	f.window.Length = len(lanes)
	f.choose(selected)
}

// after returns how long after the first lane lane i began.
func (f *waterfall) after(i int) time.Duration { return f.lanes[i].Started.Sub(f.lanes[0].Started) }

// selected returns the exchange under the cursor, or 0.
func (f *waterfall) selected() uint64 {
	if f.window.Cursor >= len(f.lanes) {
		return 0
	}
	return f.lanes[f.window.Cursor].Seq
}

// choose moves the cursor to an exchange, if the waterfall has it.
func (f *waterfall) choose(seq uint64) {
	at := f.window.Cursor
	for i := range f.lanes {
		if f.lanes[i].Seq == seq {
			at = i
		}
	}
	f.window.Move(at)
}

// act performs an action, and reports whether it could. It cannot move to findings in a workflow without findings.
func (f *waterfall) act(a keys.Action) bool {
	step := 0
	switch a {
	case keys.NextFinding:
		step = 1
	case keys.PreviousFinding:
		step = -1
	default:
		f.window.Act(a)
		return true
	}
	for i, beyond := range panel.Around(f.window.Cursor, len(f.lanes), step) {
		if _, found := f.shared.Found.Worst(f.lanes[i].Seq); found {
			f.window.Move(i)
			f.shared.SayIf(beyond, panel.OnFrom("finding", step))
			return true
		}
	}
	return false
}

func (f *waterfall) Target() analysis.Place { return analysis.Place{Exchange: f.selected()} }

// fallColumns are the widths of the columns before the bars.
type fallColumns struct{ number, link, request, status, took int }

func (f *waterfall) columns() fallColumns {
	c := fallColumns{number: 4, request: 20, status: 3, took: 8}
	for i := range f.lanes {
		c.number = max(c.number, len(fmt.Sprint(f.lanes[i].Seq)))
	}
	switch {
	case f.window.Width >= 150:
		c.link, c.request = 28, 24
	case f.window.Width >= 110:
		c.link = 14
	case f.window.Width < 60:
		c.request, c.took, c.status = max(min(f.window.Width/3, 12), 1), 0, 0
	}
	return c
}

// head returns the cells of a row before the bar.
func (c fallColumns) head(number, link, request, status, took string, look style.Style) style.Line {
	l := style.Text(style.Dim, text.PadLeft(number, c.number)+" ")
	if c.link > 0 {
		l = l.Add(style.Normal, text.Pad(link, c.link)+" ")
	}
	l = l.Add(style.Strong, text.Pad(request, c.request)+" ")
	if c.status > 0 {
		l = l.Add(look, text.PadLeft(status, c.status)+" ")
	}
	if c.took > 0 {
		l = l.Add(style.Normal, text.PadLeft(took, c.took)+" ")
	}
	return l
}

// scale returns the scale of the bars in the room that the columns leave.
func (f *waterfall) scale(c fallColumns) chart.Scale {
	return chart.Scale{Total: f.total, Columns: f.window.Width - 2 - c.head("", "", "", "", "", style.Normal).Columns()}
}

func (f *waterfall) View() []style.Line {
	if len(f.lanes) == 0 {
		return []style.Line{style.Text(style.Dim, "  there is no exchange to draw")}
	}
	c := f.columns()
	s := f.scale(c)
	labels, grid := s.Axis()
	heading := c.head("n", panel.Peers("client", "agent", c.link), "request", "st", "took", style.Dim)
	for i := range heading.Spans {
		heading.Spans[i].Style = style.Dim
	}
	lines := []style.Line{style.Text(style.Dim, "  ").Join(heading).Join(labels.Line())}
	for i := f.window.Top; i < f.window.Bottom(); i++ {
		lines = append(lines, f.row(i, c, s, grid))
	}
	if f.height < 14 {
		return lines
	}
	for len(lines) < f.height-waterfallPreview {
		lines = append(lines, style.Line{})
	}
	return append(lines, f.preview()...)
}

// row draws an exchange.
func (f *waterfall) row(i int, c fallColumns, s chart.Scale, grid []int) style.Line {
	l := &f.lanes[i]
	mark, look := f.shared.Sign(l.Seq)
	status := style.Normal
	if l.Failed {
		status = style.Error
	}
	bar := l.bar(s, f.after(i))
	for _, column := range grid {
		if column < len(bar) && bar[column].Text == " " {
			bar.Put(column, style.Dim, "┊")
		}
	}
	row := f.window.Row(i).Add(look, mark)
	return row.Join(c.head(fmt.Sprint(l.Seq), panel.Peers(l.Client, l.Agent, c.link), l.Request, l.Status, panel.Took(&l.Entry), status)).Join(bar.Line())
}

// preview describes the selected exchange, and explains the signs of the bars.
func (f *waterfall) preview() []style.Line {
	l := &f.lanes[f.window.Cursor]
	lines := []style.Line{
		style.Text(style.Dim, strings.Repeat("─", f.window.Width)),
		style.Text(style.Strong, fmt.Sprintf(" %d ", l.Seq)).Add(style.Normal, l.Client+" → "+l.Agent+"  "+l.Request).
			Add(style.Dim, "  "+f.shared.Clock(l.Started)),
	}
	if len(l.Outcome) > 0 {
		lines = append(lines, style.Text(style.Normal, " ").Join(panel.Outcome(&l.Entry, 0)))
	}
	return append(lines,
		style.Text(style.Dim, " "+l.times()),
		style.Text(style.Dim, " ├ request ─ waits ○ first byte ━ answers ● event ┤ end ▶ open ✗ failed ? cut"))
}
