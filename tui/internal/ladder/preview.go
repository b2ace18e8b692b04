package ladder

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/sequence"
	"a2atap/tui/document"
	"a2atap/tui/load"
)

// These constants bound the reading of an arrow's message.
const (
	previewPause = 60 * time.Millisecond // how long an arrow must be selected first
	previewShown = 16 << 10              // bytes of a body
)

// An arrowMessage is the message of the selected arrow of a ladder, laid out for the lower part of the panel.
type arrowMessage struct {
	of     sequence.Arrow
	width  int
	lines  []document.Line
	err    error
	ticket uint64             // of the running load; 0 for none
	stop   context.CancelFunc // cancels the load; nil without one
}

// arrowRead is the message of readArrow.
type arrowRead struct {
	ticket uint64
	lines  []document.Line
	err    error
}

// sameMessage reports whether two arrows are of the same message.
func sameMessage(a, b *sequence.Arrow) bool {
	return a.Exchange == b.Exchange && a.Response == b.Response && a.Event == b.Event && a.Last == b.Last &&
		a.Broken == b.Broken
}

// readArrow reads the message of an arrow, after a pause.
func readArrow(l *load.Loader, ticket uint64, a sequence.Arrow, ends, width int) tea.Cmd {
	return func() tea.Msg {
		if l.Pause(previewPause); l.Context.Err() != nil {
			return nil // the cursor has moved on
		}
		answer := arrowRead{ticket: ticket}
		x, err := l.Ends(a.Exchange, ends)
		if err != nil {
			answer.err = err
			return answer
		}
		source := document.Source{
			Excerpt: load.Excerpt{Exchange: x}, Context: l.Context, Load: l, View: document.JSON, Width: width, Limit: previewShown,
		}
		answer.lines = source.Arrow(&a)
		return answer
	}
}
