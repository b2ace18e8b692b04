package textview

import (
	"fmt"
	"slices"

	"a2atap/proxy/a2a"
	"a2atap/tui/document"
	"a2atap/tui/internal/assembly"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// layout lays out the assembled text.
func (s *source) layout(columns int) *shown {
	t := &shown{
		started: s.Exchange.Started, stream: s.Exchange.Response != nil && s.Exchange.Response.Stream, width: columns,
		events: slices.Clone(s.text.Events), count: s.Excerpt.Events.Count(),
	}
	w := writer{flow: flow{columns: columns}, of: s.text}
	for i := range s.text.Blocks {
		w.block(&s.text.Blocks[i])
	}
	w.ending(s)
	t.lines = w.lines
	t.first = make([]int, len(t.events))
	for i := range t.first {
		t.first[i] = -1
	}
	for n := range t.lines {
		for _, span := range t.lines[n].spans {
			for i := max(span.events.from, 0); i <= span.events.to; i++ {
				if t.first[i] < 0 {
					t.first[i] = n
				}
			}
		}
	}
	return t
}

// A writer lays out the blocks of an assembly.
type writer struct {
	flow
	of     *assembly.Assembly
	spaced bool // an empty line precedes the next text
}

// mark returns the number of an event as people read it.
func (w *writer) mark(event int) string { return fmt.Sprintf("·%d", w.of.Events[event].Number) }

// block writes a heading, and the text below it.
func (w *writer) block(b *assembly.Block) {
	long := b.Kind == assembly.Artifact || b.Kind == assembly.Message
	if len(w.lines) > 0 && (long || w.spaced) {
		w.end()
	}
	w.indent, w.spaced = 0, long
	by := noEvent
	if len(b.Runs) == 0 && b.Kind != assembly.Artifact { // else its text is highlighted
		by = eventRange{b.First, b.Last}
	}
	w.putLine(by, w.heading(b), 2)
	w.indent = min(2, w.columns/8)
	last := a2a.TextPart
	for i, r := range b.Runs {
		if r.Kind != a2a.TextPart || last != a2a.TextPart {
			w.ended()
		} else if b.Kind != assembly.Artifact && i > 0 {
			w.ended() // parts of a message are paragraphs
		}
		w.run(b, r)
		last = r.Kind
	}
	w.ended()
	w.indent = 0
}

// heading names a block, with its progress.
func (w *writer) heading(b *assembly.Block) style.Line {
	var l style.Line
	switch b.Kind {
	case assembly.Artifact:
		l = style.Text(style.Title, "artifact "+b.Name)
		if b.Title != "" {
			l = l.Add(style.Name, " “"+b.Title+"”")
		}
	case assembly.Status:
		l = style.Text(style.Strong, "status "+b.Name)
	case assembly.Message:
		l = style.Text(style.Answer, "message")
		if b.Name != "" {
			l = l.Add(style.Answer, " of the "+b.Name)
		}
	case assembly.Failure:
		l = style.Text(style.Error, "✗ "+b.Name)
	default:
		l = style.Text(style.Strong, b.Name)
	}
	if b.Task != "" && w.of.Tasks() > 1 {
		l = l.Add(style.Dim, " of task "+b.Task)
	}
	return l.Add(style.Dim, w.extent(b))
}

// extent describes the events of a block, and whether it is complete.
func (w *writer) extent(b *assembly.Block) string {
	if b.First < 0 {
		return ""
	}
	words := "  " + w.mark(b.First)
	if b.Last != b.First {
		words += " to " + w.mark(b.Last)
	}
	if b.Kind != assembly.Artifact {
		return words
	}
	if b.Chunks > 1 {
		words += ", " + text.Plural(b.Chunks, "chunk")
	}
	switch {
	case b.Whole:
		words += ", complete"
	case b.Chunks > 1 || b.Middle:
		words += ", no last chunk"
	}
	if b.Middle {
		words += ", started before this stream"
	}
	if b.Again > 0 {
		words += ", started again"
		if b.Again > 1 {
			words += fmt.Sprintf(" %d times", b.Again)
		}
	}
	return words
}

// run writes a piece of a part.
func (w *writer) run(b *assembly.Block, r assembly.Run) {
	switch r.Kind {
	case a2a.TextPart:
		w.write(oneEvent(r.Event), style.Normal, r.Text)
		return
	case a2a.DataPart:
		if b.Kind != assembly.Other {
			w.putLine(oneEvent(r.Event), style.Text(style.Name, "data"), 0)
		}
	case a2a.RawPart, a2a.URLPart:
		w.putLine(oneEvent(r.Event), style.Text(style.Name, "file ").Add(style.Normal, r.Text), 5)
		return
	case a2a.FilePart:
		w.putLine(oneEvent(r.Event), style.Text(style.Name, "file without content"), 0)
	default:
		w.putLine(oneEvent(r.Event), style.Text(style.Name, "part of unknown kind"), 0)
	}
	for _, l := range document.LayJSON([]byte(r.Text)) {
		if w.more {
			return
		}
		indent := min(2*l.Depth, w.columns/3)
		w.putLine(oneEvent(r.Event), style.Text(style.Normal, text.Blanks(indent)).Join(l.Line), indent+4)
	}
}

// ending describes what is missing, and how the exchange ended.
func (w *writer) ending(s *source) {
	if len(w.lines) == 0 {
		w.putLine(noEvent, style.Text(style.Dim, nothingToRead(s)), 0)
	}
	if w.more {
		w.more = false
		w.lines = w.lines[:document.MaxLines-4]
		w.putLine(noEvent, style.Text(style.Title, fmt.Sprintf("… the first %s lines are shown; a2atap show prints all of it",
			text.Number(document.MaxLines))), 2)
	}
	if left := s.Excerpt.Events.Count() - len(s.text.Events); s.text.Full && left > 0 {
		w.putLine(noEvent, style.Text(style.Title, fmt.Sprintf("… not assembled here: %s after ·%d; the detail shows them",
			text.Plural(left, "event"), s.lastTaken())), 2)
	} else if s.text.Full {
		w.putLine(noEvent, style.Text(style.Title, "… the text is cut here; the detail shows all of it"), 2)
	}
	w.end()
	if f := s.Exchange.Fault; f != nil {
		w.putLine(noEvent, style.Text(style.Error, "✗ "+f.Kind+" by "+f.Side).Add(style.Normal, ": "+f.Detail), 2)
	}
	if l, known := document.End(s.Exchange, s.More); known {
		w.putLine(noEvent, l, 0)
	}
	if s.Exchange.Lost > 0 {
		w.putLine(noEvent, style.Text(style.Warning, "? "+text.Plural(s.Exchange.Lost, "byte")+" were not recorded; text may be missing"), 2)
	}
}

// lastTaken returns the number of the last assembled event.
func (s *source) lastTaken() int {
	if n := len(s.text.Events); n > 0 {
		return s.text.Events[n-1].Number
	}
	return 0
}

// nothingToRead explains why there is no text.
func nothingToRead(s *source) string {
	switch {
	case s.Exchange.Response == nil:
		return "no response was recorded"
	case s.Exchange.Response.Stream:
		return "no event so far"
	case len(s.Exchange.Response.Body.Data) == 0:
		return "the answer has no body"
	case s.unread != nil:
		return "the answer is not JSON; the detail shows its body"
	}
	return "the answer has no A2A text, artifact or error; the detail shows its body"
}
