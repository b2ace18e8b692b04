package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/document"
	"a2atap/tui/load"
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
