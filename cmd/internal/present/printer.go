// Package present prints exchanges as list, tree, ladder, detail, transcript, curl, JSON or raw bytes. It also prints
// traffic while it is recorded (Recorded), and verdicts with their exit statuses.
//
// Output may contain foreign text: control sequences are escaped, and passwords in URLs omitted. Everything colored
// also has a word. Lines are at most as wide as the terminal, and never cut without one.
package present

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/neighbor"
	"a2atap/tui"
	"a2atap/tui/document"
	"a2atap/tui/print"
)

// A Shown is an exchange that is printed.
type Shown struct {
	Row   *snapshot.Row     // its results; nil for formats that print only recorded data
	X     *capture.Exchange // nil for formats that print only the row
	Facts reading.Facts     // of X
}

// A Printer prints exchanges in one format.
type Printer interface {
	Print(one *Shown) error
	End() error
}

// A PartPrinter can print parts of exchanges.
type PartPrinter interface {
	Printer
	Only(document.Section) // selects the part of the next exchange to print
}

// A Flusher is a printer that holds its output back until Flush.
type Flusher interface{ Flush() error }

// PrintTheme returns the theme of the output; "" without color.
func PrintTheme(e cli.Env) tui.Theme {
	if !e.Colours(e.Out) {
		return ""
	}
	theme, err := tui.ChooseTheme("auto", e.Getenv)
	if err != nil {
		return ""
	}
	return theme
}

// A LadderPrinter prints exchanges as arrows between client and agent, in chronological order.
type LadderPrinter struct {
	P      *print.Printer
	arrows []sequence.Arrow
}

// Print implements Printer.
func (p *LadderPrinter) Print(one *Shown) error {
	arrows := sequence.Of(one.X, one.Facts.Reading, &one.Row.Summary, one.Facts.Findings)
	cause := one.Row.Cause()
	arrows[0].Aside = cause.Doubt()
	p.arrows = append(p.arrows, arrows...)
	return nil
}

// End implements Printer.
func (p *LadderPrinter) End() error { return p.Flush() }

// Flush prints the arrows of all exchanges printed so far.
func (p *LadderPrinter) Flush() error {
	sequence.Sort(p.arrows)
	err := p.P.Arrows(p.arrows)
	p.arrows = p.arrows[:0]
	return err
}

// A DetailPrinter prints exchanges for people: a line as in the list, then heads and bodies.
type DetailPrinter struct {
	List  *ListPrinter
	P     *print.Printer
	part  document.Section
	begun bool
}

// Only selects the part of the next exchange to print.
func (p *DetailPrinter) Only(part document.Section) { p.part = part }

// Print implements Printer.
func (p *DetailPrinter) Print(one *Shown) error {
	if p.begun {
		if _, err := fmt.Fprintln(p.List.W); err != nil {
			return err
		}
	}
	p.begun = true
	if err := p.List.title(one.Row); err != nil {
		return err
	}
	if err := p.assembled(one); err != nil {
		return err
	}
	return p.P.Exchange(one.X, one.Facts.Reading, one.Facts.Findings, p.part)
}

// assembled prints the text and the tool calls of a model's stream, put together from its events.
func (p *DetailPrinter) assembled(one *Shown) error {
	n, res := one.Facts.Neighbor, one.X.Response
	if n == nil || n.Kind != neighbor.Model || res == nil || !res.Stream || p.part != (document.Section{}) {
		return nil
	}
	lines := slices.Collect(strings.Lines(string(n.Text())))
	for _, t := range n.Asked {
		lines = append(lines, t.Name+"("+t.Arguments+")")
	}
	for _, line := range lines {
		line = strings.TrimRight(line, "\r\n")
		if _, err := fmt.Fprintln(p.List.W, paint(p.List.Colours, piece{"= ", inkDim}, piece{line, inkPlain})); err != nil {
			return err
		}
	}
	return nil
}

// End implements Printer.
func (p *DetailPrinter) End() error { return nil }

// A RawPrinter writes the bytes of bodies unchanged, except for replaced secrets.
type RawPrinter struct {
	E        cli.Env
	Terminal bool
	part     document.Section
}

// Only selects the part of the next exchange to print.
func (p *RawPrinter) Only(part document.Section) { p.part = part }

// Print implements Printer.
func (p *RawPrinter) Print(one *Shown) error {
	x := one.X
	if p.part.Side != document.ResponseSide {
		if err := p.write(x.Seq, "request", x.Request.Body.Data, x.Request.Body.Dropped); err != nil {
			return err
		}
	}
	res := x.Response
	switch {
	case res == nil || p.part.Side == document.RequestSide:
		return nil
	case !res.Stream:
		return p.write(x.Seq, "response", res.Body.Data, res.Body.Dropped)
	}
	for i := range res.Events {
		if e := &res.Events[i]; p.part.Event == 0 || p.part.Event == e.K {
			if err := p.write(x.Seq, "response", e.Raw, e.Dropped); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *RawPrinter) write(seq uint64, side string, data []byte, dropped int64) error {
	if p.Terminal && !harmless(data) {
		return fmt.Errorf("exchange %d: its %s has control characters or unprintable bytes; write them to a file "+
			"with > FILE, or leave out --raw", seq, side)
	}
	if dropped > 0 {
		p.E.Tell("show: %s of the %s of exchange %d were not recorded", analysis.Plural(dropped, "byte"), side, seq)
	}
	_, err := p.E.Out.Write(data)
	return err
}

// harmless reports whether a terminal only displays these bytes and obeys none of them.
func harmless(data []byte) bool {
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 || cli.Obeyed(r) && r != '\n' && r != '\t' && r != '\r' && r != utf8.RuneError {
			return false
		}
		data = data[size:]
	}
	return true
}

// End implements Printer.
func (p *RawPrinter) End() error { return nil }

// HasEvent returns an error if a part of an exchange is an event that was not recorded.
func HasEvent(x *capture.Exchange, part document.Section) error {
	res := x.Response
	switch {
	case part.Event == 0:
		return nil
	case res == nil:
		return fmt.Errorf("exchange %d has no event %d: no answer was recorded", x.Seq, part.Event)
	case !res.Stream:
		return fmt.Errorf("exchange %d has no event %d: its answer is not a stream; write %d.response for the whole answer",
			x.Seq, part.Event, x.Seq)
	}
	last := 0
	for i := range res.Events {
		if res.Events[i].K == part.Event {
			return nil
		}
		last = max(last, res.Events[i].K)
	}
	return fmt.Errorf("exchange %d has no event %d; the last recorded event is %d", x.Seq, part.Event, last)
}
