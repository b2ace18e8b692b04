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

// eventRows are the rows of events that were read, those that are seen and some that were.
type eventRows struct {
	panel  *Panel
	known  map[int]eventRow // by index of the event
	ticket uint64           // of those that are being read; 0 if none are
}

// An eventRow is what the row of an event shows.
type eventRow struct {
	at, before   time.Duration
	size         int64
	unterminated bool
	dropped      bool
	words        string
}

// rowsRead is the message of readRows: the rows of consecutive events, from the index first on.
type rowsRead struct {
	ticket uint64
	first  int
	rows   []eventRow
	err    error
}

// readRows reads the rows of the events first..last.
func readRows(ctx context.Context, l *load.Loader, ticket, seq uint64, s load.Stream, call a2a.Call, first, last int) tea.Cmd {
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

// Spot returns the spot under the cursor.
func (d *Panel) spot() spot { return d.layout().spotAt(d.Window.Cursor) }

// EventAtCursor returns the index of the event whose row or content the cursor is on, or -1.
func (d *Panel) EventAtCursor() int {
	if s := d.spot(); d.Ready && s.zone == zoneEvents && s.index < d.Events.Length() {
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
		s := d.layout().spotAt(n)
		row := style.Text(style.Normal, " ")
		if n == d.Window.Cursor {
			row = style.Text(style.Strong, ">")
		}
		if l := d.layout().lineAt(s); l != nil {
			if s.zone == zoneEvents {
				row = row.Add(style.Dim, text.Pad("│", document.EventIndent))
			}
			row = row.Join(l.Highlighted(d.search.numberIn(s)))
		} else if s.zone == zoneEvents && s.index < d.Events.Length() {
			row = row.Join(d.rows.draw(s.index))
		}
		row.Selected = n == d.Window.Cursor
		lines = append(lines, row)
	}
	return lines
}

// draw draws the row of an event: its number, its time, the pause before it, its size, a bar for the pause, and its
// summary.
func (r *eventRows) draw(i int) style.Line {
	d := r.panel
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
	row := style.Text(look, sign+" ").Add(style.Strong, text.Pad(number, max(len(strconv.Itoa(d.Events.Length())), 4)+2))
	e, there := r.known[i]
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
	row = row.Add(style.Dim, text.PadLeft(d.shared.EventTime(d.Exchange.Started, e.at), 12)+" ").Add(e.pauseStyle(), text.PadLeft(e.pause(), 9)+"  ")
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
