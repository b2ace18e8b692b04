package present

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"a2atap/analyzer/reading"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/notes"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/neighbor"
)

// An ExchangeWriter writes exchanges one by one; Close writes the end of the document. Gaps states what is missing from
// the capture. It must be called before the first exchange.
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

// Flush writes the end of the document.
func (p *ExportPrinter) Flush() error { return p.W.Close() }

// ExportWriter returns a printer that writes exchanges in one of the inspector's export formats. Formats that are
// captures state what is missing from the original capture.
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

// A bodyPrinter writes the decoded body of a response, or a stream's bytes; without a response, the request's body.
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

// A JSONPrinter prints exchanges as JSON, with their causes.
type JSONPrinter struct {
	ExportPrinter
	row *snapshot.Row // of the exchange being printed
}

// NewJSONPrinter returns a printer of exchanges as JSON, one per line.
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

// A withCause is an Annotator that adds the cause of the printed exchange.
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

// An Annotator adds protocol facts and users' notes to exported exchanges. It implements jsonl.Annotator.
type Annotator struct {
	Reader *reading.Reader
	Notes  *notes.Notes // may be nil
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
	out.Kind = r.Kind().String()
	if r.Call.Operation != a2a.NoOperation {
		out.Operation = r.Call.Operation.String()
	}
	if n := r.Neighbor; n != nil {
		out.Operation = n.Operation
		switch n.Kind {
		case neighbor.Model:
			out.Model = &jsonl.Model{
				Name: n.Subject, InputTokens: n.Input, OutputTokens: n.Output, Finish: n.Finish,
				FirstChunk: float64(n.First) / float64(time.Millisecond), Text: string(n.Text()),
			}
			for _, t := range n.Asked {
				out.Model.ToolCalls = append(out.Model.ToolCalls, jsonl.ToolCall(t))
			}
		case neighbor.MCP:
			out.MCP = &jsonl.MCP{Session: n.Session, Server: n.Server, IsError: n.Failed}
			if n.Operation == "tools/call" {
				out.MCP.Tool = n.Subject
			}
		}
	}
	return out
}
