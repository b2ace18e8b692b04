package detail

import (
	"context"
	"fmt"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/chart"
	"a2atap/tui/document"
	"a2atap/tui/load"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// An eventRow is what the row of an event shows.
type eventRow struct {
	at, before   time.Duration
	size         int64
	unterminated bool
	dropped      bool
	words        string
}

// rowsRead is the message of loader.rows: the rows of consecutive events, from the index first on.
type rowsRead struct {
	ticket uint64
	first  int
	rows   []eventRow
	err    error
}

// readRows reads the rows of the events first..last.
func readRows(l *load.Loader, ctx context.Context, ticket, seq uint64, s load.Stream, call a2a.Call, first, last int) tea.Cmd {
	return func() tea.Msg {
		answer := rowsRead{ticket: ticket, first: first}
		before := s.Page(first).Before
		answer.err = l.Events(ctx, seq, s, first, last, func(i int, e *capture.Event) {
			if i >= first {
				answer.rows = append(answer.rows, eventRow{
					at: e.At, before: before, size: int64(len(e.Raw)) + e.Dropped, unterminated: e.Unterminated,
					dropped: e.Dropped > 0, words: text.Clip(document.EventSummary(&call, e), 400),
				})
			}
			before = e.At
		})
		return answer
	}
}

// A zone is a part of the detail.
type zone uint8

const (
	zoneBefore zone = iota // request, and head of the answer
	zoneEvents             // rows of events, and lines below them
	zoneAfter              // how it ended
)

// A spot identifies a line of the detail, also when lines are added or removed elsewhere.
type spot struct {
	zone  zone
	index int // of the line, or of the event
	sub   int // of the line below the row of an event; -1 is the row
}

// events returns how many rows of events there are, as far as they were read.
func (d *Panel) events() int { return d.Excerpt.Events.Length() }

// below returns the lines below the row of an event: its content if it is open, what is wrong with it otherwise.
func (d *Panel) below(i int) []document.Line {
	if lines, open := d.doc.Open[i]; open {
		return lines
	}
	return d.doc.Marks[i]
}

// Length returns how many lines there are.
func (d *Panel) Length() int {
	n := len(d.doc.Before) + d.events() + len(d.doc.After)
	for _, i := range d.extra {
		n += len(d.below(i))
	}
	return n
}

// Spot returns the spot under the cursor.
func (d *Panel) Spot() spot { return d.spotAt(d.Window.Cursor) }

// spotAt returns the spot of a line.
func (d *Panel) spotAt(n int) spot {
	if n < len(d.doc.Before) {
		return spot{zoneBefore, n, -1}
	}
	n -= len(d.doc.Before)
	lines := 0 // below the rows that were passed
	for _, i := range d.extra {
		if n <= i+lines {
			break
		}
		if below := len(d.below(i)); n <= i+lines+below {
			return spot{zoneEvents, i, n - i - lines - 1}
		}
		lines += len(d.below(i))
	}
	if n-lines < d.events() {
		return spot{zoneEvents, n - lines, -1}
	}
	return spot{zoneAfter, n - lines - d.events(), -1}
}

// lineOf is the inverse of spotAt.
func (d *Panel) lineOf(s spot) int {
	if s.zone == zoneBefore {
		return min(s.index, len(d.doc.Before))
	}
	n := len(d.doc.Before) + s.index
	if s.zone == zoneAfter {
		n += d.events()
	}
	for _, i := range d.extra {
		if s.zone == zoneEvents && i >= s.index {
			break
		}
		n += len(d.below(i))
	}
	if s.sub >= 0 {
		n += 1 + min(s.sub, len(d.below(s.index))-1)
	}
	return n
}

// LineAt returns the line at a spot, or nil if it is the row of an event.
func (d *Panel) LineAt(s spot) *document.Line {
	var lines []document.Line
	i := s.index
	switch s.zone {
	case zoneBefore:
		lines = d.doc.Before
	case zoneAfter:
		lines = d.doc.After
	default:
		lines, i = d.below(s.index), s.sub
	}
	if i < 0 || i >= len(lines) {
		return nil
	}
	return &lines[i]
}

// part returns the lines of the part of the detail that a spot is in, the line of the detail that is the first of them,
// and the spot's index among them: -1 for the row of an event, which stands above its part.
func (d *Panel) part(s spot) (lines []document.Line, first, index int) {
	switch s.zone {
	case zoneBefore:
		return d.doc.Before, 0, s.index
	case zoneAfter:
		return d.doc.After, d.lineOf(spot{zoneAfter, 0, -1}), s.index
	}
	return d.below(s.index), d.lineOf(spot{zoneEvents, s.index, -1}) + 1, s.sub
}

// EventAtCursor returns the index of the event whose row or content the cursor is on, or -1.
func (d *Panel) EventAtCursor() int {
	if s := d.Spot(); d.Ready && s.zone == zoneEvents && s.index < d.events() {
		return s.index
	}
	return -1
}

func (d *Panel) Title() string { return strconv.FormatUint(d.Seq, 10) }

func (d *Panel) Status() string {
	if d.Exchange == nil {
		return ""
	}
	found := d.search.words(d)
	if found != "" && d.width < 100 { // there is no room for all
		return found
	}
	words := d.Exchange.Client.Name + " → " + d.Exchange.Agent.Name + ", "
	if res := d.Exchange.Response; res != nil && res.Stream {
		words += text.Plural(d.Excerpt.Events.Count(), "event") + ", "
		if d.More {
			words += fmt.Sprintf("loading %d %%, ", d.percent())
		}
	}
	words += d.mode.String()
	if found != "" {
		words += ", " + found
	}
	return words
}

func (d *Panel) View() []style.Line {
	switch {
	case d.Err != nil:
		return []style.Line{style.Text(style.Error, "! "+d.Err.Error())}
	case !d.Ready:
		return []style.Line{style.Text(style.Dim, "  loading …")}
	}
	var lines []style.Line
	for n := d.Window.Top; n < d.Window.Bottom(); n++ {
		s := d.spotAt(n)
		row := style.Text(style.Normal, " ")
		if n == d.Window.Cursor {
			row = style.Text(style.Strong, ">")
		}
		if l := d.LineAt(s); l != nil {
			if s.zone == zoneEvents {
				row = row.Add(style.Dim, text.Pad("│", document.EventIndent))
			}
			row = row.Join(l.Highlighted(d.search.numberIn(s)))
		} else if s.zone == zoneEvents && s.index < d.events() {
			row = row.Join(d.row(s.index))
		}
		row.Selected = n == d.Window.Cursor
		lines = append(lines, row)
	}
	return lines
}

// row draws the row of an event: its number, its time, the pause before it, its size, a bar for the pause, and its
// summary.
func (d *Panel) row(i int) style.Line {
	number := "·"
	if k := d.Excerpt.Events.Number(i); k > 0 {
		number += strconv.Itoa(k)
	}
	sign, look := "▸", style.Dim
	if _, open := d.doc.Open[i]; open {
		sign = "▾"
	}
	if len(d.doc.Marks[i]) > 0 {
		mark := d.doc.Marks[i][0].Spans[0]
		sign, look = string([]rune(mark.Text)[:1]), mark.Style
	}
	row := style.Text(look, sign+" ").Add(style.Strong, text.Pad(number, max(len(strconv.Itoa(d.events())), 4)+2))
	e, there := d.rows[i]
	if !there {
		return row.Add(style.Dim, "…")
	}
	words := e.words
	if e.unterminated {
		words = "unterminated: " + words
	}
	if e.dropped {
		words = "cut: " + words
	}
	if i == 0 {
		e.before = d.Exchange.Response.At
	}
	row = row.Add(style.Dim, text.PadLeft(d.when(e.at), 12)+" ").Add(e.pauseStyle(), text.PadLeft(e.pause(), 9)+"  ")
	if d.width >= 100 {
		row = row.Add(style.Dim, text.PadLeft(text.Size(e.size), 8)+"  ")
	}
	if d.doc.Total > 0 {
		row = row.Join(e.bar(chart.Scale{Total: d.doc.Total, Columns: min(max(d.width/6, 16), 40)}, d.Excerpt.Events.Number(i) > 0).Line()).
			Add(style.Normal, "  ")
	}
	return row.Add(style.Normal, words)
}

// bar draws the wait before an event, or before a block of comments, and when it came.
func (e *eventRow) bar(s chart.Scale, event bool) style.Strip {
	b := style.NewStrip(s.Columns)
	if e.at < 0 {
		return b
	}
	to := s.Column(e.at)
	if e.before >= 0 {
		b.Fill(s.Column(e.before), to-1, e.pauseStyle(), "─")
	}
	mark := "●"
	if !event {
		mark = "·"
	}
	b.Put(to, style.Answer, mark)
	return b
}

// when returns the time of an event: of the clock, or since the exchange began.
func (d *Panel) when(at time.Duration) string {
	switch {
	case at < 0:
		return "–"
	case d.shared.Deltas:
		return "+" + text.Duration(at)
	}
	return d.shared.Clock(d.Exchange.Started.Add(at))
}

// gap returns how long the stream was silent before an event, or NotKnown.
func (e *eventRow) gap() time.Duration {
	if e.at >= 0 && e.before >= 0 {
		return e.at - e.before
	}
	return capture.NotKnown
}

func (e *eventRow) pause() string {
	gap := e.gap()
	if gap < 0 {
		return ""
	}
	return fmt.Sprintf("Δ%s", text.Duration(gap))
}

// pauseStyle highlights pauses of a second and more.
func (e *eventRow) pauseStyle() style.Style {
	if e.gap() >= time.Second {
		return style.Warning
	}
	return style.Dim
}

// percent returns how much of the capture behind the beginning of the exchange was read.
func (d *Panel) percent() uint64 {
	return min(100*d.Excerpt.Events.Next/max(d.shared.Info.Arrivals, 1), 99)
}
