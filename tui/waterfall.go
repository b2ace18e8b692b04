package tui

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer"
)

// A waterfall shows when the exchanges of a task or a workflow went on: a row for each, with a bar from its start to
// its end on one axis of time.
type waterfall struct {
	shared *shared
	lanes  []lane
	window window // over lanes
	height int
	total  time.Duration // from the first start to the last end
}

// waterfallPreview is the number of lines at the bottom that describe the selected exchange.
const waterfallPreview = 5

func (f *waterfall) resize(width, height int) {
	f.window.width, f.height = width, max(height, 0)
	f.window.height = max(height-1, 0)
	if height >= 14 {
		f.window.height = height - 1 - waterfallPreview
	}
	f.window.reveal()
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
	f.window.length = len(lanes)
	f.choose(selected)
}

// after returns how long after the first lane one began.
func (f *waterfall) after(i int) time.Duration { return f.lanes[i].started.Sub(f.lanes[0].started) }

// selected returns the exchange under the cursor; 0 if there is none.
func (f *waterfall) selected() uint64 {
	if f.window.cursor >= len(f.lanes) {
		return 0
	}
	return f.lanes[f.window.cursor].seq
}

// choose moves the cursor to an exchange, if it is there.
func (f *waterfall) choose(seq uint64) {
	at := f.window.cursor
	for i := range f.lanes {
		if f.lanes[i].seq == seq {
			at = i
		}
	}
	f.window.move(at)
}

// act performs an action, and reports whether it could; moving to findings cannot where there is none.
func (f *waterfall) act(a action) bool {
	step := 0
	switch a {
	case nextFinding:
		step = 1
	case previousFinding:
		step = -1
	default:
		f.window.act(a)
		return true
	}
	for i := f.window.cursor + step; i >= 0 && i < len(f.lanes); i += step {
		if _, found := f.shared.found.worst(f.lanes[i].seq); found {
			f.window.move(i)
			return true
		}
	}
	return false
}

func (f *waterfall) target() analyzer.Place { return analyzer.Place{Exchange: f.selected()} }

// fallColumns are the widths of the columns before the bars.
type fallColumns struct{ number, link, request, status, took int }

// ends returns who called whom, as far as there is room for both.
func (c fallColumns) ends(client, agent string) string {
	if c.link < 20 {
		return "→ " + agent
	}
	return client + " → " + agent
}

func (f *waterfall) columns() fallColumns {
	c := fallColumns{number: 4, request: 20, status: 3, took: 8}
	for i := range f.lanes {
		c.number = max(c.number, len(fmt.Sprint(f.lanes[i].seq)))
	}
	switch {
	case f.window.width >= 150:
		c.link, c.request = 28, 24
	case f.window.width >= 110:
		c.link = 14
	case f.window.width < 60:
		c.request, c.took, c.status = max(min(f.window.width/3, 12), 1), 0, 0
	}
	return c
}

// head returns what stands before a bar, as the cells of a row.
func (c fallColumns) head(number, link, request, status, took string, look style) line {
	l := text(styleDim, padLeft(number, c.number)+" ")
	if c.link > 0 {
		l = l.add(styleText, pad(link, c.link)+" ")
	}
	l = l.add(styleStrong, pad(request, c.request)+" ")
	if c.status > 0 {
		l = l.add(look, padLeft(status, c.status)+" ")
	}
	if c.took > 0 {
		l = l.add(styleText, padLeft(took, c.took)+" ")
	}
	return l
}

// scale returns the scale of the bars, in what room the columns leave.
func (f *waterfall) scale(c fallColumns) scale {
	return scale{f.total, f.window.width - 2 - c.head("", "", "", "", "", styleText).columns()}
}

func (f *waterfall) view() []line {
	if len(f.lanes) == 0 {
		return []line{text(styleDim, "  there is no exchange to draw")}
	}
	c := f.columns()
	s := f.scale(c)
	labels, grid := s.axis()
	heading := c.head("n", c.ends("client", "agent"), "request", "st", "took", styleDim)
	for i := range heading.spans {
		heading.spans[i].style = styleDim
	}
	lines := []line{text(styleDim, "  ").join(heading).join(labels.line())}
	for i := f.window.top; i < f.window.bottom(); i++ {
		lines = append(lines, f.row(i, c, s, grid))
	}
	if f.height < 14 {
		return lines
	}
	for len(lines) < f.height-waterfallPreview {
		lines = append(lines, line{})
	}
	return append(lines, f.preview()...)
}

// row draws an exchange.
func (f *waterfall) row(i int, c fallColumns, s scale, grid []int) line {
	l := &f.lanes[i]
	mark, look := " ", styleText
	if worst, found := f.shared.found.worst(l.seq); found {
		mark, look = sign(worst)
	}
	cursor := " "
	if i == f.window.cursor {
		cursor = ">"
	}
	status := styleText
	if l.failed {
		status = styleError
	}
	took := "–"
	if l.took >= 0 {
		took = since(l.took)
	}
	bar := l.bar(s, f.after(i))
	for _, column := range grid {
		if column < len(bar) && bar[column].text == " " {
			bar.put(column, styleDim, "┊")
		}
	}
	row := line{selected: i == f.window.cursor}.add(styleStrong, cursor).add(look, mark)
	return row.join(c.head(fmt.Sprint(l.seq), c.ends(l.client, l.agent), l.request, l.status, took, status)).join(bar.line())
}

// preview describes the selected exchange, and says what the signs of the bars mean.
func (f *waterfall) preview() []line {
	l := &f.lanes[f.window.cursor]
	lines := []line{
		text(styleDim, strings.Repeat("─", f.window.width)),
		text(styleStrong, fmt.Sprintf(" %d ", l.seq)).add(styleText, l.client+" → "+l.agent+"  "+l.request).
			add(styleDim, "  "+f.shared.clock(l.started)),
	}
	if len(l.outcome) > 0 {
		lines = append(lines, text(styleText, " ").join(l.drawOutcome(0)))
	}
	return append(lines,
		text(styleDim, " "+l.times()),
		text(styleDim, " ├ request ─ waits ○ first byte ━ answers ● event ┤ end ▶ open ✗ failed ? cut"))
}

// times says in words when the parts of the exchange came.
func (l *lane) times() string {
	var words []string
	switch {
	case l.answer >= 0:
		words = append(words, "answer after "+since(l.answer))
	case l.status == "–":
		words = append(words, "no answer")
	}
	if n := len(l.events); n > 0 {
		words = append(words, fmt.Sprintf("%s from %s to %s", plural(l.count, "event"), since(l.events[0]),
			since(l.events[n-1])))
	}
	if missing := l.count - len(l.events); missing > 0 && l.skipped[1] > 0 {
		words = append(words, fmt.Sprintf("those from %s to %s are not drawn", since(l.skipped[0]), since(l.skipped[1])))
	}
	switch {
	case l.open:
		words = append(words, "still open")
	case l.cut:
		words = append(words, "the recorder ended first")
	case l.took >= 0:
		words = append(words, "ended after "+since(l.took))
	}
	return strings.Join(words, ", ")
}
