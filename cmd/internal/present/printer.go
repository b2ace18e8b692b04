// Package present prints: exchanges as list, tree, ladder, detail, transcript, curl, JSON or raw bytes, what passes while
// it is recorded (Recorded), and verdicts with the exit statuses that follow from them.
//
// Foreign text may be in all that is printed: a terminal obeys nothing of it, and passwords of URLs are left out. What is
// coloured has a word too. A line is as wide as the terminal at most, and whole where there is none.
package present

import (
	"fmt"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/tui"
	"a2atap/tui/document"
	"a2atap/tui/print"
)

// A Shown is an exchange that is printed.
type Shown struct {
	Row   *kept.Row         // what it came to; nil for formats that print what was recorded and nothing else
	X     *capture.Exchange // nil for formats that print the row alone
	Facts reading.Facts     // of x
}

// A Printer prints exchanges in one format.
type Printer interface {
	Print(one *Shown) error
	End() error
}

// A PartPrinter can print parts of exchanges.
type PartPrinter interface {
	Printer
	Only(document.Section) // says what is wanted of the next exchange
}

// A Flusher is a printer that holds back what it has until it is asked for it.
type Flusher interface{ Flush() error }

// PrintTheme returns the theme of what is printed; "" if it has no colour.
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

// A LadderPrinter prints exchanges as arrows between client and agent, in the order of time.
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

// Flush prints the arrows of what has been given so far.
func (p *LadderPrinter) Flush() error {
	sequence.Sort(p.arrows)
	err := p.P.Arrows(p.arrows)
	p.arrows = p.arrows[:0]
	return err
}

// A DetailPrinter prints exchanges as people read them: a line as in the list, then heads and bodies.
type DetailPrinter struct {
	List  *ListPrinter
	P     *print.Printer
	part  document.Section
	begun bool
}

// Only says which part is wanted of the next exchange.
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
	return p.P.Exchange(one.X, one.Facts.Reading, one.Facts.Findings, p.part)
}

// End implements Printer.
func (p *DetailPrinter) End() error { return nil }

// A RawPrinter writes the bytes of bodies, as they were but for the secrets that were replaced.
type RawPrinter struct {
	E        cli.Env
	Terminal bool
	part     document.Section
}

// Only says which part is wanted of the next exchange.
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
		return fmt.Errorf("exchange %d: its %s has bytes that a terminal would obey, or cannot show; write them to a file "+
			"with > FILE, or leave out --raw", seq, side)
	}
	if dropped > 0 {
		p.E.Tell("show: %s of the %s of exchange %d were not recorded", analysis.Plural(dropped, "byte"), side, seq)
	}
	_, err := p.E.Out.Write(data)
	return err
}

// harmless reports whether a terminal shows bytes and does nothing else.
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
		return fmt.Errorf("exchange %d has no event %d, since no answer to it was recorded", x.Seq, part.Event)
	case !res.Stream:
		return fmt.Errorf("exchange %d has no event %d, since its answer is not a stream; write %d.response for all of it",
			x.Seq, part.Event, x.Seq)
	}
	last := 0
	for i := range res.Events {
		if res.Events[i].K == part.Event {
			return nil
		}
		last = max(last, res.Events[i].K)
	}
	return fmt.Errorf("exchange %d has no event %d; the last one that was recorded is %d", x.Seq, part.Event, last)
}
