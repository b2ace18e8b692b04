package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/proxy/capture"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// An Arrow is one line of a ladder: a request, a response or an event between client and agent.
type Arrow = sequence.Arrow

// Arrows returns the arrows of one exchange, of which s says what came of it, findings marked where they stand.
func Arrows(x *capture.Exchange, r *reading.Reading, s *analyzer.Summary, findings []analyzer.Finding) []Arrow {
	return sequence.Of(x, r, s, findings)
}

// SortArrows puts the arrows of several exchanges in order of time.
func SortArrows(arrows []Arrow) { sequence.Sort(arrows) }

const (
	timeWidth   = 9  // "  12.345s"
	numberWidth = 6  // " 1234 "
	minColumn   = 14 // between two lifelines
)

// Ladder draws arrows between the lifelines of all clients and agents, in the order given, at most width columns wide
// if they fit. Times are relative to the first arrow.
func Ladder(arrows []Arrow, width int) []string {
	if len(arrows) == 0 {
		return nil
	}
	l := newLadder(arrows, width)
	lines := []string{l.header()}
	start := arrows[0].At
	for _, a := range arrows {
		lines = append(lines, l.arrow(a, a.At.Sub(start)))
		for i := range a.Findings {
			mark, _ := markOf(&a, i)
			lines = append(lines, text.Blanks(timeWidth+numberWidth)+mark+" "+a.Findings[i])
		}
	}
	return lines
}

// markOf returns the sign of a finding of an arrow, and its style.
func markOf(a *Arrow, i int) (string, style.Style) {
	if i >= len(a.Severities) {
		return style.OfSeverity(analyzer.Error)
	}
	return style.OfSeverity(a.Severities[i])
}

type ladder struct {
	ends   []string
	column int // from one lifeline to the next
}

func newLadder(arrows []Arrow, width int) *ladder {
	l := &ladder{}
	for _, a := range arrows {
		for _, end := range []string{a.From, a.To} {
			if !slices.Contains(l.ends, end) {
				l.ends = append(l.ends, end)
			}
		}
	}
	gaps := max(len(l.ends)-1, 1)
	l.column = max((width-timeWidth-numberWidth-8)/gaps, minColumn)
	l.column = min(l.column, 48)
	return l
}

func (l *ladder) header() string {
	row := newRow(timeWidth + numberWidth + l.column*(len(l.ends)-1) + 24)
	for i, end := range l.ends {
		name := text.Clip(end, l.column-2)
		row.put(max(l.at(i)-text.Width(name)/2, 0), name)
	}
	return row.String()
}

// at returns the column of a lifeline.
func (l *ladder) at(i int) int { return timeWidth + numberWidth + 4 + i*l.column }

func (l *ladder) arrow(a Arrow, since time.Duration) string {
	row := newRow(l.at(len(l.ends)-1) + 2)
	row.put(0, fmt.Sprintf("%*s", timeWidth-1, fmt.Sprintf("%.3fs", since.Seconds())))
	row.put(timeWidth, fmt.Sprintf("%*d", numberWidth-2, a.Exchange))
	for i := range l.ends {
		row.put(l.at(i), "│")
	}
	from, to := slices.Index(l.ends, a.From), slices.Index(l.ends, a.To)
	left, right := l.at(min(from, to)), l.at(max(from, to))
	if from == to {
		right = left + l.column
	}
	room := right - left - 1
	label := text.Clip(a.Label, room-4)
	fill := room - text.Width(label) - 3
	switch {
	case from == to && from == len(l.ends)-1: // there is nothing to the right of the last one
		row.put(max(left-2-text.Width(label), 0), label+" ↺")
	case from == to:
		row.put(left+1, "↺ "+label)
	case from < to:
		row.put(left+1, "─"+label+strings.Repeat("─", fill+1)+head(a.Broken, "▶"))
	default:
		row.put(left+1, head(a.Broken, "◀")+strings.Repeat("─", fill+1)+label+"─")
	}
	return row.String()
}

func head(broken bool, whole string) string {
	if broken {
		return "✗"
	}
	return whole
}

// A row is one line of cells of the screen.
type row struct{ cells []string }

func newRow(width int) *row {
	r := &row{cells: make([]string, width)}
	for i := range r.cells {
		r.cells[i] = " "
	}
	return r
}

// put writes text at a column; what does not fit is left out. A wide character takes two cells.
func (r *row) put(column int, words string) {
	for cell, w := range text.Cells(text.Clean(words)) {
		if column+w > len(r.cells) {
			return
		}
		r.cells[column] = cell
		for i := 1; i < w; i++ {
			r.cells[column+i] = ""
		}
		column += w
	}
}

func (r *row) String() string { return strings.TrimRight(strings.Join(r.cells, ""), " ") }
