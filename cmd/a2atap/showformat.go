package main

import (
	"context"
	"fmt"
	"unicode/utf8"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/transcript"
	"a2atap/tui"
	"a2atap/tui/terminal"
)

// A shown is an exchange that is printed.
type shown struct {
	row   *kept.Row         // what it came to; nil for formats that print what was recorded and nothing else
	x     *capture.Exchange // nil for formats that print the row alone
	facts reading.Facts     // of x
}

// A printer prints exchanges in one format.
type printer interface {
	print(one *shown) error
	end() error
}

// A partPrinter can print parts of exchanges.
type partPrinter interface {
	printer
	only(tui.Part) // says what is wanted of the next exchange
}

// A flusher is a printer that holds back what it has until it is asked for it.
type flusher interface{ flush() error }

func (s *showing) newPrinter(ctx context.Context) printer {
	e, colours, width := s.e, s.e.Colours(s.e.Out), cli.ColumnsOf(s.e.Out)
	switch s.o.format {
	case "tree":
		t := newTreePrinter(e.Out, colours, width)
		t.links = s.keep.links
		return t
	case "ladder":
		return &ladderPrinter{p: tui.NewPrinter(e.Out, width, printTheme(e))}
	case "transcript":
		return &exportPrinter{w: transcript.NewWriter(e.Out)}
	case "curl":
		return &curlPrinter{w: e.Out}
	case "json":
		return &exportPrinter{w: jsonl.NewWriter(e.Out, annotator{s.reader(ctx), s.keep.notes})}
	case "raw":
		return &rawPrinter{e: e, terminal: terminal.Is(e.Out)}
	}
	list := &listPrinter{w: e.Out, colours: colours, columns: s.widths.columns(width)}
	if s.o.format == "detail" {
		return &detailPrinter{list: list, p: tui.NewPrinter(e.Out, width, printTheme(e))}
	}
	return list
}

// reader returns what reads single exchanges, with the cards of the capture.
func (s *showing) reader(ctx context.Context) *reading.Reader {
	if s.j == nil {
		s.j = keeperOf(ctx, s.e, "show", s.name, s.src).read(ctx)
	}
	if s.j != nil {
		if r, err := s.j.Reader(ctx); err == nil {
			return r
		}
	}
	if r, err := newReader(ctx, s.src); err == nil {
		return r
	}
	return &reading.Reader{} // what reads the exchange says what is wrong
}

// printTheme returns the theme of what is printed; "" if it has no colour.
func printTheme(e cli.Env) tui.Theme {
	if !e.Colours(e.Out) {
		return ""
	}
	theme, err := tui.ChooseTheme("auto", e.Getenv)
	if err != nil {
		return ""
	}
	return theme
}

type ladderPrinter struct {
	p      *tui.Printer
	arrows []tui.Arrow
}

func (p *ladderPrinter) print(one *shown) error {
	p.arrows = append(p.arrows, tui.Arrows(one.x, one.facts.Reading, &one.row.Summary, one.facts.Findings)...)
	return nil
}

func (p *ladderPrinter) end() error { return p.flush() }

func (p *ladderPrinter) flush() error {
	tui.SortArrows(p.arrows)
	err := p.p.Arrows(p.arrows)
	p.arrows = p.arrows[:0]
	return err
}

// A detailPrinter prints exchanges as people read them: a line as in the list, then heads and bodies.
type detailPrinter struct {
	list  *listPrinter
	p     *tui.Printer
	part  tui.Part
	begun bool
}

func (p *detailPrinter) only(part tui.Part) { p.part = part }

func (p *detailPrinter) print(one *shown) error {
	if p.begun {
		if _, err := fmt.Fprintln(p.list.w); err != nil {
			return err
		}
	}
	p.begun = true
	if err := p.list.title(one.row); err != nil {
		return err
	}
	return p.p.Exchange(one.x, one.facts.Reading, one.facts.Findings, p.part)
}

func (p *detailPrinter) end() error { return nil }

// A rawPrinter writes the bytes of bodies, as they were but for the secrets that were replaced.
type rawPrinter struct {
	e        cli.Env
	terminal bool
	part     tui.Part
}

func (p *rawPrinter) only(part tui.Part) { p.part = part }

func (p *rawPrinter) print(one *shown) error {
	x := one.x
	if p.part.Side != tui.ResponseSide {
		if err := p.write(x.Seq, "request", x.Request.Body.Data, x.Request.Body.Dropped); err != nil {
			return err
		}
	}
	res := x.Response
	switch {
	case res == nil || p.part.Side == tui.RequestSide:
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

func (p *rawPrinter) write(seq uint64, side string, data []byte, dropped int64) error {
	if p.terminal && !harmless(data) {
		return fmt.Errorf("exchange %d: its %s has bytes that a terminal would obey, or cannot show; write them to a file "+
			"with > FILE, or leave out --raw", seq, side)
	}
	if dropped > 0 {
		p.e.Tell("show: %s of the %s of exchange %d were not recorded", analyzer.Plural(dropped, "byte"), side, seq)
	}
	_, err := p.e.Out.Write(data)
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

func (p *rawPrinter) end() error { return nil }
