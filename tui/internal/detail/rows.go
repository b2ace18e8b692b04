package detail

import (
	"context"
	"fmt"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/document"
	"a2atap/tui/internal/chart"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// maxRows is the maximum number of cached rows.
const maxRows = 10_000

// eventRows are the loaded rows of events: the visible ones and some that were visible.
type eventRows struct {
	in     *content
	known  map[int]eventRow // by index of the event
	ticket uint64           // of the rows being read; 0 for none
}

// An eventRow is the data in the row of an event.
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

// read returns the command that reads the visible rows of events.
func (r *eventRows) read() tea.Cmd {
	if r.ticket != 0 || !r.in.Ready || r.in.Events.Length() == 0 {
		return nil
	}
	first, last := -1, -1
	for n := r.in.Window.Top; n < r.in.Window.Bottom(); n++ {
		s := r.in.spotAt(n)
		if s.zone != zoneEvents {
			continue
		}
		if _, there := r.known[s.index]; there || s.index >= r.in.Events.Length() {
			continue
		}
		if first < 0 {
			first = s.index
		}
		last = s.index
	}
	if first < 0 {
		return nil
	}
	if len(r.known) > maxRows {
		clear(r.known)
	}
	r.ticket = r.in.shared.Ticket()
	return readRows(r.in.ctx, r.in.shared.Load, r.ticket, r.in.Seq, r.in.Excerpt.Events, *r.in.call(), first, last)
}

// take stores loaded rows.
func (r *eventRows) take(msg rowsRead) tea.Cmd {
	if msg.ticket != r.ticket {
		return nil
	}
	r.ticket = 0
	for i, row := range msg.rows {
		r.known[msg.first+i] = row
	}
	if msg.err != nil {
		r.in.Err = msg.err
		return nil
	}
	return r.read()
}

// draw draws the row of an event: its number, its time, the pause before it, its size, a bar for the pause, and its
// summary.
func (r *eventRows) draw(i int) style.Line {
	number := "·"
	if k := r.in.Excerpt.Events.Number(i); k > 0 {
		number += strconv.Itoa(k)
	}
	sign, look := "▸", style.Dim
	if _, open := r.in.doc.Open[i]; open {
		sign = "▾"
	}
	if len(r.in.doc.Marks[i]) > 0 {
		mark := r.in.doc.Marks[i][0].Spans[0]
		sign, look = string([]rune(mark.Text)[:1]), mark.Style
	}
	row := style.Text(look, sign+" ").Add(style.Strong, text.Pad(number, max(len(strconv.Itoa(r.in.Events.Length())), 4)+2))
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
		e.before = r.in.Exchange.Response.At
	}
	row = row.Add(style.Dim, text.PadLeft(r.in.shared.EventTime(r.in.Exchange.Started, e.at), 12)+" ").Add(e.pauseStyle(), text.PadLeft(e.pause(), 9)+"  ")
	if r.in.width >= 100 {
		row = row.Add(style.Dim, text.PadLeft(text.Size(e.size), 8)+"  ")
	}
	if r.in.doc.Total > 0 {
		row = row.Join(e.bar(chart.Scale{Total: r.in.doc.Total, Columns: min(max(r.in.width/6, 16), 40)}, r.in.Excerpt.Events.Number(i) > 0).Line()).
			Add(style.Normal, "  ")
	}
	return row.Add(style.Normal, words)
}

// bar draws the wait before an event or a block of comments, and its time.
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
