package viewer

import (
	"context"

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/transcript"
	"a2atap/tui/print"
	"a2atap/tui/terminal"
)

func (s *showing) newPrinter(ctx context.Context) present.Printer {
	e, colours, width := s.e, s.e.Colours(s.e.Out), cli.ColumnsOf(s.e.Out)
	switch s.o.Format {
	case "tree":
		t := present.NewTreePrinter(e.Out, colours, width)
		t.Links = s.keep.Links
		return t
	case "ladder":
		return &present.LadderPrinter{P: print.New(e.Out, width, present.PrintTheme(e))}
	case "transcript":
		return &present.ExportPrinter{W: transcript.NewWriter(e.Out)}
	case "curl":
		return &present.CurlPrinter{W: e.Out}
	case "json":
		return &present.ExportPrinter{W: jsonl.NewWriter(e.Out, present.Annotator{Reader: s.reader(ctx), Notes: s.keep.Notes})}
	case "raw":
		return &present.RawPrinter{E: e, Terminal: terminal.Is(e.Out)}
	}
	list := &present.ListPrinter{W: e.Out, Colours: colours, Columns: s.widths.Columns(width)}
	if s.o.Format == "detail" {
		return &present.DetailPrinter{List: list, P: print.New(e.Out, width, present.PrintTheme(e))}
	}
	return list
}

// reader returns what reads single exchanges, with the cards of the capture.
func (s *showing) reader(ctx context.Context) *reading.Reader {
	if s.j == nil {
		s.j = judged.KeeperOf(ctx, s.e, "show", s.name, s.src).Read(ctx)
	}
	if s.j != nil {
		if r, err := s.j.Reader(ctx); err == nil {
			return r
		}
	}
	if r, err := source.NewReader(ctx, s.src); err == nil {
		return r
	}
	return &reading.Reader{} // what reads the exchange says what is wrong
}
