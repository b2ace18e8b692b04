package document

import (
	"context"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture/notes"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
)

// Has reports whether a match begins in the line.
func (l *Line) Has(n int) bool {
	return slices.ContainsFunc(l.highlights, func(m highlighted) bool { return m.begins && m.n == n })
}

// A highlighted is the part of a match that lies in a line. Wrapped lines split matches.
type highlighted struct {
	from, to int  // bytes of the line's text
	n        int  // number of the match in its part of the detail, from 0
	begins   bool // the match begins here
}

// highlight marks the matches in the pieces of a line that was wrapped with an indent. matched is the number of earlier
// matches.
func highlight(pieces []Line, indent int, found []find.Range, matched int) {
	at, reaching, begun := 0, 0, 0 // bytes before the piece, the first match to consider, earlier matches
	for i := range pieces {
		p := &pieces[i]
		p.Upto = matched + len(found)
		if begun == len(found) && reaching == len(found) {
			continue
		}
		prefix := 0
		if i > 0 {
			prefix = indent
		}
		end := at + len(p.String()) - prefix
		for n := reaching; n < len(found) && found[n].From < end; n++ {
			from := max(found[n].From, at)
			p.highlights = append(p.highlights, highlighted{
				from: from - at + prefix, to: min(found[n].To, end) - at + prefix, n: matched + n, begins: from == found[n].From,
			})
		}
		for reaching < len(found) && found[reaching].To <= end {
			reaching++
		}
		for begun < len(found) && found[begun].From < end {
			begun++
		}
		p.Upto = matched + begun
		at = end
	}
}

// Highlighted returns the line with its matches. Match number here is the current one.
func (l *Line) Highlighted(here int) style.Line {
	if len(l.highlights) == 0 {
		return l.Line
	}
	drawn := style.Line{Selected: l.Selected}
	at, next := 0, 0
	for _, s := range l.Spans {
		for s.Text != "" {
			for next < len(l.highlights) && l.highlights[next].to <= at {
				next++
			}
			look, room := s.Style, len(s.Text)
			if next < len(l.highlights) {
				switch m := l.highlights[next]; {
				case at < m.from:
					room = min(room, m.from-at)
				case m.n == here:
					look, room = style.Here, min(room, m.to-at)
				default:
					look, room = style.Match, min(room, m.to-at)
				}
			}
			part := s
			part.Text, part.Style = s.Text[:room], look
			drawn.Spans = append(drawn.Spans, part)
			s.Text, at = s.Text[room:], at+room
		}
	}
	return drawn
}

// A View is how the detail shows bodies and events.
type View uint8

const (
	JSON    View = iota // decoded content, formatted JSON
	Decoded             // the A2A objects
	Raw                 // the bytes as they were recorded
	Views
)

// These constants bound how much of a body is shown.
const (
	FirstShown = 64 << 10
	MaxShown   = 1 << 20
	MaxLines   = 50_000 // of one body, however short they are
)

// A Line is a line of the detail.
type Line struct {
	style.Line
	Place      analysis.Place
	Finding    bool              // the line is a finding at Place
	Found      *analysis.Finding // that finding, else nil
	highlights []highlighted     // its matches, in order
	Upto       int               // number of matches in its part of the detail that begin by the end of this line
	Node       Node              // the object or array that begins in it
	depth      int               // of a JSON text: number of enclosing objects and arrays
	Hidden     []analysis.Place  // findings inside, if Node is folded
}

// A Document is an exchange laid out for a width. It has the lines before the events of its stream, findings and
// contents of some of the events, and the lines after them. Rows of events are drawn only while they are visible, since
// there may be a great many.
type Document struct {
	Before, After []Line
	Marks         map[int][]Line // by index of the event: its findings
	Open          map[int][]Line // by index of the event: its content and its findings
	Cut           bool           // a body is longer than the limit
	Total         time.Duration  // time scale of the events' bars; 0 without bars
	Reading       *reading.Reading
	Pattern       *find.Pattern // the searched pattern
}

// A Source holds what a document is built from.
type Source struct {
	load.Excerpt
	Context  context.Context
	Load     *load.Loader
	Findings []analysis.Finding
	View     View
	Width    int
	Limit    int   // bytes of a body
	Open     []int // events whose content is shown
	whole    bool  // everything is for a printer: no line is wrapped or omitted
	Reading  *reading.Reading
	Folds    Folding
	Pattern  *find.Pattern // the searched pattern; nil without a search
	Note     notes.Note
}

// Built is the message of Build.
type Built struct {
	Ticket uint64
	Doc    Document
}
