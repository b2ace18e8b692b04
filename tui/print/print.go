// Package print prints the contents of the inspector's panels as permanent text, for commands: exchanges with their
// findings, and growing ladders.
package print

import (
	"fmt"
	"io"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/proxy/capture"
	"a2atap/tui/document"
	"a2atap/tui/internal/chart"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A Printer prints the contents of panels as permanent text, for commands. It is not safe for concurrent use.
type Printer struct {
	w     io.Writer
	width int
	theme style.Theme

	lanes []sequence.Arrow // one for each connected pair
	chart *chart.Ladder
	first time.Time // time of the first arrow
}

// New returns a printer for a terminal of that width in columns; with width 0 it never cuts lines. With theme "" it
// prints no escape sequences.
func New(w io.Writer, width int, theme style.Theme) *Printer {
	return &Printer{w: w, width: width, theme: theme}
}

func (p *Printer) print(l style.Line) error {
	text := l.String()
	if p.theme != "" {
		text = l.Paint(p.theme)
	}
	_, err := fmt.Fprintln(p.w, text)
	return err
}

const pipeWidth = 100 // of a ladder that is not on a terminal

// Arrows draws arrows in the given order, each between the lifelines of its ends, with findings below it. It continues
// earlier calls: times count from the first arrow of all, and if a new participant appears, it prints all names again.
func (p *Printer) Arrows(arrows []sequence.Arrow) error {
	if len(arrows) == 0 {
		return nil
	}
	if p.first.IsZero() {
		p.first = arrows[0].At
	}
	if p.meet(arrows) {
		columns := p.width
		if columns == 0 {
			columns = pipeWidth
		}
		p.chart = chart.NewLadder(p.lanes, columns)
		if err := p.print(p.cut(style.Text(style.Strong, p.chart.Header()))); err != nil {
			return err
		}
	}
	for i := range arrows {
		for _, l := range p.arrow(&arrows[i]) {
			if err := p.print(p.cut(l)); err != nil {
				return err
			}
		}
	}
	return nil
}

// meet reports whether the arrows have a new participant.
func (p *Printer) meet(arrows []sequence.Arrow) (fresh bool) {
	for _, a := range arrows {
		if p.chart == nil || !p.chart.Has(a.From) || !p.chart.Has(a.To) {
			if !slices.ContainsFunc(p.lanes, func(b sequence.Arrow) bool { return a.From == b.From && a.To == b.To }) {
				p.lanes = append(p.lanes, sequence.Arrow{From: a.From, To: a.To})
			}
			fresh = true
		}
	}
	return fresh
}

func (p *Printer) arrow(a *sequence.Arrow) []style.Line {
	look := style.Normal
	if a.Broken || a.Failed {
		look = style.Error
	}
	lines := []style.Line{style.Text(look, p.chart.Arrow(*a, a.At.Sub(p.first)))}
	if a.Aside != "" {
		lines = append(lines, style.Text(style.Dim, text.Blanks(chart.Margin)+"("+text.Clean(a.Aside)+")"))
	}
	for i := range a.Findings {
		mark, look := chart.MarkOf(a, i)
		lines = append(lines, style.Text(style.Normal, text.Blanks(chart.Margin)).Add(look, mark+" "+a.Findings[i]))
	}
	return lines
}

// cut cuts a line to the width of the terminal.
func (p *Printer) cut(l style.Line) style.Line {
	if p.width == 0 || text.Width(l.String()) <= p.width {
		return l
	}
	return l.Fit(p.width-1).Add(style.Dim, "…")
}

// Exchange prints a part of an exchange; see document.Print.
func (p *Printer) Exchange(x *capture.Exchange, r *reading.Reading, findings []analysis.Finding, part document.Section) error {
	return document.Print(x, r, findings, part, p.print)
}

// Sign returns the sign of a severity, which distinguishes findings without color.
func Sign(s analysis.Severity) string {
	mark, _ := style.OfSeverity(s)
	return mark
}
