package tui

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/tui/load"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A Side is a part of an exchange.
type Side uint8

// The sides.
const (
	BothSides Side = iota
	RequestSide
	ResponseSide
)

// A Part says which part of an exchange is meant.
type Part struct {
	Side  Side
	Event int // of the answer, by its number; 0 for all of the side
}

// A Printer prints what the panels show as text that stays, for commands. It is for one goroutine.
type Printer struct {
	w     io.Writer
	width int
	theme style.Theme

	lanes []Arrow // one for each pair that arrows were drawn between
	chart *ladder
	first time.Time // when the first arrow was
}

// NewPrinter returns a printer for a terminal of that width in columns; 0 is none, so that no line is cut. Without a
// theme ("") no escape sequence is printed.
func NewPrinter(w io.Writer, width int, theme style.Theme) *Printer {
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

const (
	pipeWidth  = 100 // of a ladder that is not on a terminal
	indentRoom = 120 // columns by which the depth of JSON is bounded, see docWriter.json
)

// Arrows draws arrows in the order given, each between the lifelines of its ends, with findings below it. Arrows of an
// earlier call stand above, and times count from the first of all; where somebody takes part who did not before, the
// names of all are printed again.
func (p *Printer) Arrows(arrows []Arrow) error {
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
		p.chart = newLadder(p.lanes, columns)
		if err := p.print(p.cut(style.Text(style.Strong, p.chart.header()))); err != nil {
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

// meet reports whether somebody takes part in the arrows who did not before, or nobody did.
func (p *Printer) meet(arrows []Arrow) (fresh bool) {
	for _, a := range arrows {
		if p.chart == nil || !slices.Contains(p.chart.ends, a.From) || !slices.Contains(p.chart.ends, a.To) {
			if !slices.ContainsFunc(p.lanes, func(b Arrow) bool { return a.From == b.From && a.To == b.To }) {
				p.lanes = append(p.lanes, Arrow{From: a.From, To: a.To})
			}
			fresh = true
		}
	}
	return fresh
}

func (p *Printer) arrow(a *Arrow) []style.Line {
	look := style.Normal
	if a.Broken || a.Failed {
		look = style.Error
	}
	lines := []style.Line{style.Text(look, p.chart.arrow(*a, a.At.Sub(p.first)))}
	for i := range a.Findings {
		mark, look := markOf(a, i)
		lines = append(lines, style.Text(style.Normal, text.Blanks(timeWidth+numberWidth)).Add(look, mark+" "+a.Findings[i]))
	}
	return lines
}

// cut returns what of a line fits on the terminal.
func (p *Printer) cut(l style.Line) style.Line {
	if p.width == 0 || text.Width(l.String()) <= p.width {
		return l
	}
	return l.Fit(p.width-1).Add(style.Dim, "…")
}

// Exchange prints a part of an exchange: heads, bodies with their content codings taken off and JSON laid out,
// events, findings below the lines where they stand, and at last how it ended.
func (p *Printer) Exchange(x *capture.Exchange, r *reading.Reading, findings []analyzer.Finding, part Part) error {
	w := docWriter{docSource: docSource{
		Excerpt: load.Excerpt{Exchange: x}, findings: findings, width: indentRoom, limit: math.MaxInt, reading: r, whole: true,
	}}
	w.doc.reading = r
	if part.Event > 0 {
		return p.event(&w, part.Event)
	}
	if part.Side != ResponseSide {
		w.request()
	}
	if part.Side == RequestSide {
		return p.flush(&w)
	}
	if x.Response == nil || !x.Response.Stream {
		w.answer()
	} else if err := p.stream(&w); err != nil {
		return err
	}
	w.ending()
	return p.flush(&w)
}

// stream prints an event at a time, since there may be a great many.
func (p *Printer) stream(w *docWriter) error {
	res := w.Exchange.Response
	w.say(analyzer.Place{}, style.Line{}, 0)
	at := analyzer.Place{Exchange: w.Exchange.Seq, Response: true}
	w.head(at, res.Head, style.Answer, "← ")
	w.found(func(f analyzer.Place) bool { return f.Response && f.Part == "body" })
	for i := range res.Events {
		w.say(analyzer.Place{}, style.Line{}, 0)
		w.printEvent(&res.Events[i])
		if err := p.flush(w); err != nil {
			return err
		}
	}
	return nil
}

// event prints one event of an answer.
func (p *Printer) event(w *docWriter, k int) error {
	for i := 0; w.Exchange.Response != nil && i < len(w.Exchange.Response.Events); i++ {
		if e := &w.Exchange.Response.Events[i]; e.K == k {
			w.printEvent(e)
		}
	}
	return p.flush(w)
}

func (w *docWriter) printEvent(e *capture.Event) {
	place := load.EventAt(w.Exchange.Seq, e.K)
	w.put(place, eventHead(e), 0)
	w.event(place, e, func(f analyzer.Place) bool { return f.Response && e.K > 0 && f.Part == place.Part })
}

// eventHead returns the line above an event: its number and when it came, from the beginning of the exchange.
func eventHead(e *capture.Event) style.Line {
	l := style.Text(style.Answer, "← comment")
	if e.K > 0 {
		l = style.Text(style.Answer, fmt.Sprintf("← event %d", e.K))
	}
	if e.At >= 0 {
		l = l.Add(style.Dim, "  +"+text.Duration(e.At))
	}
	if e.Unterminated {
		l = l.Add(style.Warning, "  unterminated")
	}
	if e.Dropped > 0 {
		l = l.Add(style.Warning, "  cut: "+text.Plural(e.Dropped, "more byte")+" were not recorded")
	}
	return l
}

func (p *Printer) flush(w *docWriter) error {
	for _, l := range w.lines {
		if err := p.print(l.Line); err != nil {
			return err
		}
	}
	w.lines = w.lines[:0]
	return nil
}

// Width returns how many columns a text takes on a terminal that is cleaned by Clip.
func Width(words string) int { return text.Width(text.Clean(words)) }

// Clip returns a text as one line without control functions, cut to so many columns; what was cut ends with an
// ellipsis.
func Clip(words string, columns int) string { return text.Clip(words, columns) }

// Clean returns a text as one line without control functions: what a terminal might act on is spelt out.
func Clean(words string) string { return text.Clean(words) }

// Sign returns the sign of a severity, by which findings are told apart without colour.
func Sign(s analyzer.Severity) string {
	mark, _ := style.OfSeverity(s)
	return mark
}
