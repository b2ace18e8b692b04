package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"a2atap/proxy/safetext"
)

// AppendJSON appends a request of the protocol in its JSON form, on one line and without its end: ids in hexadecimal,
// enumerations as numbers, 64-bit integers as strings. It is safe to look at, as package safetext has it.
//
// Source: OTLP 1.10, "JSON Protobuf Encoding".
func AppendJSON(dst []byte, data *tracepb.TracesData) ([]byte, error) {
	ours := proto.Clone(data).(*tracepb.TracesData)
	eachID(ours, func(id []byte) []byte { return asBase64(hex.EncodeToString(id)) })
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(ours)
	if err != nil {
		return dst, fmt.Errorf("write spans as JSON: %w", err)
	}
	out := bytes.NewBuffer(dst)
	if err := json.Compact(out, safetext.JSON(text)); err != nil { // protojson puts in spaces at random
		return dst, fmt.Errorf("write spans as JSON: %w", err)
	}
	return out.Bytes(), nil
}

// asBase64 returns the bytes that JSON of protocol buffers, which encodes bytes in base64, writes as the given
// hexadecimal text. The digits are valid base64, and the ids are long enough to need no padding.
func asBase64(text string) []byte {
	id, _ := base64.StdEncoding.DecodeString(text)
	return id
}

// eachID replaces each id.
func eachID(data *tracepb.TracesData, replace func([]byte) []byte) {
	ids := func(list ...*[]byte) {
		for _, id := range list {
			if len(*id) > 0 {
				*id = replace(*id)
			}
		}
	}
	for _, r := range data.ResourceSpans {
		for _, scope := range r.ScopeSpans {
			for _, span := range scope.Spans {
				ids(&span.TraceId, &span.SpanId, &span.ParentSpanId)
				for _, link := range span.Links {
					ids(&link.TraceId, &link.SpanId)
				}
			}
		}
	}
}

// BatchSize is the maximum number of spans in one request.
const BatchSize = 512

// A Writer writes spans as JSON lines, one request of the protocol each, as the file exporter of the OpenTelemetry
// collector does, and its file receiver reads.
type Writer struct {
	w     io.Writer
	spans *Spans
	batch []Span
	size  int // approximate size of batch
	line  []byte
}

// maxLine is about how many bytes of spans go into a line, where they have bodies.
const maxLine = 1 << 20

// newWriter returns a Writer for spans.
func newWriter(w io.Writer, spans *Spans) *Writer { return &Writer{w: w, spans: spans} }

// Write writes a span, sooner or later.
func (w *Writer) Write(span Span) error {
	w.batch = append(w.batch, span)
	w.size += proto.Size(span.Span)
	if len(w.batch) < BatchSize && w.size < maxLine {
		return nil
	}
	return w.Flush()
}

// Flush writes the unwritten rest.
func (w *Writer) Flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	line, err := AppendJSON(w.line[:0], w.spans.Batch(w.batch))
	if err != nil {
		return err
	}
	clear(w.batch)
	w.batch, w.size, w.line = w.batch[:0], 0, append(line, '\n')
	_, err = w.w.Write(w.line)
	return err
}
