package ladder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/sequence"
	"a2atap/tui/document"
	"a2atap/tui/load"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// Bounds of what is read for the message of an arrow.
const (
	previewPause = 60 * time.Millisecond // for which an arrow must be selected
	previewShown = 16 << 10              // bytes of a body
)

// An arrowMessage is what passed at the selected arrow of a ladder, laid out for the lower part of the panel.
type arrowMessage struct {
	of     sequence.Arrow
	width  int
	lines  []document.Line
	err    error
	ticket uint64             // of what is under way; 0 if nothing is
	stop   context.CancelFunc // ends it; nil if nothing is
}

// arrowRead is the message of readArrow.
type arrowRead struct {
	ticket uint64
	lines  []document.Line
	err    error
}

// previewHeight is the number of lines at the bottom that describe the selected arrow.
func (f *Panel) previewHeight() int {
	if f.height < 14 {
		return 0
	}
	return max(4, f.height*2/5)
}

// sameMessage reports whether two arrows are of the same message.
func sameMessage(a, b *sequence.Arrow) bool {
	return a.Exchange == b.Exchange && a.Response == b.Response && a.Event == b.Event && a.Last == b.Last &&
		a.Broken == b.Broken
}

// ShowMessage returns the command that reads the message of the selected arrow, unless it is there. One for another
// arrow that is under way ends. With again it is read in any case, since it may have grown.
func (f *Panel) ShowMessage(again bool) tea.Cmd {
	a, ok := f.selected()
	p := &f.message
	if ok && !again && sameMessage(&a, &p.of) && p.width == f.window.Width {
		return nil
	}
	if p.stop != nil {
		p.stop()
		p.stop, p.ticket = nil, 0
	}
	if !ok || f.previewHeight() == 0 {
		p.of, p.lines = sequence.Arrow{}, nil
		return nil
	}
	if !sameMessage(&a, &p.of) {
		p.lines, p.err = nil, nil
	}
	p.of, p.width = a, f.window.Width
	p.ticket = f.shared.Ticket()
	ctx, stop := context.WithCancel(f.load.Context)
	p.stop = stop
	return readArrow(f.load.Until(ctx), p.ticket, a, max(f.content.ends, 1), max(p.width-1, 8))
}

// setMessage takes the message that was read.
func (f *Panel) setMessage(msg arrowRead) {
	p := &f.message
	if msg.ticket != p.ticket {
		return
	}
	p.stop()
	p.stop, p.ticket = nil, 0
	p.lines, p.err = msg.lines, msg.err
}

// readArrow reads what passed at an arrow, after a pause.
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

// preview describes the selected arrow: where it stands, its findings, and what passed.
func (f *Panel) preview() []style.Line {
	a, ok := f.selected()
	if !ok {
		return nil
	}
	lines := []style.Line{
		style.Text(style.Dim, strings.Repeat("─", f.window.Width)),
		style.Text(style.Strong, " "+text.Clean(a.From)+" → "+text.Clean(a.To)).Add(style.Normal, "  "+a.Label).
			Add(style.Dim, "  exchange "+fmt.Sprint(a.Exchange)+", "+f.shared.Clock(a.At)),
	}
	at := f.Target()
	for _, finding := range f.shared.Found.Of(a.Exchange) {
		here := finding.Place.Response == at.Response && (a.Event == 0 || finding.Place.Part == at.Part)
		if here && slices.Contains(a.Findings, finding.Rule.ID) {
			for _, l := range document.FindingLines(&finding, f.window.Width-2) {
				lines = append(lines, style.Text(style.Normal, " ").Join(l.Line))
			}
		}
	}
	switch p := &f.message; {
	case p.err != nil:
		lines = append(lines, style.Text(style.Error, " ! "+p.err.Error()))
	case p.ticket != 0 && len(p.lines) == 0:
		lines = append(lines, style.Text(style.Dim, " …"))
	default:
		for _, l := range p.lines {
			lines = append(lines, style.Text(style.Normal, " ").Join(l.Line))
		}
	}
	if room := f.previewHeight(); len(lines) > room {
		left := len(lines) - room + 1
		lines = append(lines[:room-1], style.Text(style.Title, fmt.Sprintf(" … %s; enter opens it", text.Plural(left, "more line"))))
	}
	return lines
}
