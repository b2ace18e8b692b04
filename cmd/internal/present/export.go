package present

import (
	"bytes"
	"fmt"
	"io"

	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/notes"
	"a2atap/proxy/capture/transcript"
)

// An ExchangeWriter writes exchanges one by one; Close writes what ends the document. Gaps states what is missing from
// the capture, before the first exchange.
type ExchangeWriter interface {
	Gaps(g capture.Gaps) error
	Write(x *capture.Exchange) error
	Close() error
}

// NewExchangeWriter returns a writer of the format har, jsonl or txtar.
func NewExchangeWriter(w io.Writer, format string, a Annotator) (ExchangeWriter, error) {
	switch format {
	case "har":
		return har.NewWriter(w, cli.Tool().Version)
	case "jsonl":
		return jsonl.NewWriter(w, a), nil
	}
	return transcript.NewWriter(w), nil
}

// ExportPrinter prints exchanges with a writer of one of the export formats.
type ExportPrinter struct{ W ExchangeWriter }

// Print implements Printer.
func (p *ExportPrinter) Print(one *Shown) error { return p.W.Write(one.X) }

// End implements Printer.
func (p *ExportPrinter) End() error { return p.W.Close() }

// Flush writes what is held back.
func (p *ExportPrinter) Flush() error { return p.W.Close() }

// ExportWriter returns what writes exchanges in one of the formats of the inspector. Those that are captures state what
// is missing from the one that they are copied from.
func ExportWriter(w io.Writer, format string, a Annotator, gaps capture.Gaps) (Printer, error) {
	switch format {
	case "curl":
		return &CurlPrinter{W: w}, nil
	case "body":
		return &bodyPrinter{w: w}, nil
	}
	out, err := NewExchangeWriter(w, format, a)
	if err != nil {
		return nil, err
	}
	return &ExportPrinter{W: out}, out.Gaps(gaps)
}

// bodyPrinter writes the body of an answer with its content codings taken off, of a stream its bytes; that of the
// request where there is no answer.
type bodyPrinter struct{ w io.Writer }

func (p *bodyPrinter) Print(one *Shown) error {
	x := one.X
	body, err := x.Request.Content()
	if x.Response != nil {
		body, err = x.Response.Content()
	}
	if err != nil {
		return fmt.Errorf("the body of exchange %d cannot be decoded: %w", x.Seq, err)
	}
	_, err = io.Copy(p.w, bytes.NewReader(body))
	return err
}

func (p *bodyPrinter) End() error { return nil }

// A JSONPrinter prints exchanges as JSON, with what caused them.
type JSONPrinter struct {
	ExportPrinter
	row *kept.Row // of the exchange that is printed
}

// NewJSONPrinter returns what prints exchanges as JSON, one a line.
func NewJSONPrinter(w io.Writer, a Annotator) *JSONPrinter {
	p := &JSONPrinter{}
	p.W = jsonl.NewWriter(w, withCause{a, p})
	return p
}

// Print implements Printer.
func (p *JSONPrinter) Print(one *Shown) error {
	p.row = one.Row
	return p.ExportPrinter.Print(one)
}

// withCause is an Annotator that also says what caused the exchange that is printed.
type withCause struct {
	Annotator
	of *JSONPrinter
}

// Annotate implements jsonl.Annotator.
func (a withCause) Annotate(x *capture.Exchange) jsonl.Annotation {
	out := a.Annotator.Annotate(x)
	row := a.of.row
	if row == nil {
		return out
	}
	cause := row.Cause()
	switch doubt := cause.Doubt(); {
	case cause.Parent != 0:
		out.Cause = &jsonl.Cause{Exchange: cause.Parent, How: cause.By.String(), Proved: cause.By.Certain()}
	case doubt != "":
		out.Cause = &jsonl.Cause{How: doubt, OneOf: cause.Maybe.All(), More: cause.Maybe.More}
	}
	return out
}

// An Annotator adds to exported exchanges what the protocol knows about them, and what people noted. It implements
// jsonl.Annotator.
type Annotator struct {
	Reader *reading.Reader
	Notes  *notes.Notes // nil if there are none
}

// Annotate implements jsonl.Annotator.
func (a Annotator) Annotate(x *capture.Exchange) jsonl.Annotation {
	r := a.Reader.Read(x)
	out := jsonl.Annotation{
		Dialect: r.Dialects.String(), Binding: r.Call.Binding.String(),
		Task: r.Tasks, Context: r.Contexts, State: r.State(),
	}
	note := a.Notes.Of(x.Seq, x.ID)
	out.Marks, out.Comment = note.Marks(), note.Comment
	if r.Call.Operation != a2a.NoOperation {
		out.Operation = r.Call.Operation.String()
	}
	return out
}
