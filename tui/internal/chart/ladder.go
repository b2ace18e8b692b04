// Package chart draws timelines: a Ladder, with arrows between the lifelines of clients and agents, and the Scale of a
// waterfall, which maps times to columns. The result is clean text of a known width.
package chart

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/sequence"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

const (
	timeWidth   = 9  // "  12.345s"
	numberWidth = 6  // " 1234 "
	minColumn   = 14 // between two lifelines

	Margin = timeWidth + numberWidth // before the lifelines
)

// MarkOf returns the sign of a finding of an arrow, and its style.
func MarkOf(a *sequence.Arrow, i int) (string, style.Style) {
	if i >= len(a.Severities) {
		return style.OfSeverity(analysis.Error)
	}
	return style.OfSeverity(a.Severities[i])
}

// A Ladder draws arrows between the lifelines of all clients and agents, in order of first appearance. It is at most
// width columns wide, if they fit.
type Ladder struct {
	ends   []string
	column int // distance between lifelines
}

// NewLadder returns a ladder for arrows, at most width columns wide if they fit.
func NewLadder(arrows []sequence.Arrow, width int) *Ladder {
	l := &Ladder{}
	for _, a := range arrows {
		for _, end := range []string{a.From, a.To} {
			if !slices.Contains(l.ends, end) {
				l.ends = append(l.ends, end)
			}
		}
	}
	gaps := max(len(l.ends)-1, 1)
	l.column = max((width-Margin-8)/gaps, minColumn)
	l.column = min(l.column, 48)
	return l
}

// Header names the lifelines.
func (l *Ladder) Header() string {
	row := newRow(Margin + l.column*(len(l.ends)-1) + 24)
	for i, end := range l.ends {
		name := text.ClipName(end, l.column-2)
		row.put(max(l.at(i)-text.Width(name)/2, 0), name)
	}
	return row.String()
}

// Has reports whether a participant has a lifeline.
func (l *Ladder) Has(name string) bool { return slices.Contains(l.ends, name) }

// at returns the column of a lifeline.
func (l *Ladder) at(i int) int { return Margin + 4 + i*l.column }

// Arrow draws an arrow, which is at the offset since from the first one.
func (l *Ladder) Arrow(a sequence.Arrow, since time.Duration) string {
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

// put writes text at a column, and cuts what does not fit. A wide character takes two cells.
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
