package document

import (
	"slices"

	"a2atap/tui/find"
	"a2atap/tui/style"
)

// Has reports whether a match begins in the line.
func (l *Line) Has(n int) bool {
	return slices.ContainsFunc(l.highlights, func(m Highlight) bool { return m.begins && m.n == n })
}

// A Highlight is a part of a line that matches what is searched for, or what the line has of a match that was wrapped.
type Highlight struct {
	from, to int  // bytes of the line's text
	n        int  // number of the match in its part of the detail, from 0
	begins   bool // the match begins here
}

// highlight marks the matches in the pieces of a line that was wrapped with an indent. So many matches stand before it.
func highlight(pieces []Line, indent int, found []find.Range, matched int) {
	at, reaching, begun := 0, 0, 0 // bytes before the piece, the first match that may reach into it, those before it
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
			p.highlights = append(p.highlights, Highlight{
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

// Highlighted returns the line with its matches lit; one of them may be where the search is, the others have another number.
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
