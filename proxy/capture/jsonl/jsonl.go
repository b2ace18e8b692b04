// Package jsonl reads and writes exchanges as JSON Lines, one object in a line, for scripts and other programs.
//
// [Scan] and [Writer] go line by line, so that a file of any size takes the memory of one exchange. An [Annotator],
// which the caller passes in, adds what the protocol, the rules and users know about an exchange to its object.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/internal/exchangejson"
	"a2atap/proxy/safetext"
)

// An Annotator adds to an exchange what the protocol and its readers know about it. A Writer calls it; the additions
// are not part of the record.
type Annotator interface {
	Annotate(x *capture.Exchange) Annotation
}

// An Annotation is what an Annotator has to say. What is left empty is written empty.
type Annotation struct {
	Link      string   // client->agent; made of the names in the record if it is empty
	Dialect   string   // such as "1.0" or "0.2/0.3"
	Binding   string   // "jsonrpc", "http+json" or "http"
	Operation string   // such as "SendMessage"
	Task      []string // ids of the tasks
	Context   []string // ids of the contexts
	State     string   // of the task, when the exchange was over
	Marks     []string
	Comment   string
	Cause     *Cause // nil if it begins a workflow, or if that is not known
	Kind      string // "a2a", "mcp", "model" or "other"
	Model     *Model // of a call of a model
	MCP       *MCP   // of a call of an MCP server
}

// A Model is a call of a model.
type Model struct {
	Name         string     `json:"name"`
	InputTokens  int64      `json:"inputTokens"`
	OutputTokens int64      `json:"outputTokens"`
	Finish       string     `json:"finish"`
	FirstChunk   float64    `json:"firstChunk,omitzero"` // ms after the request's first byte, of a stream
	Text         string     `json:"text"`                // put together from the stream
	ToolCalls    []ToolCall `json:"toolCalls,omitempty"`
}

// A ToolCall is a tool that a model asked for.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// An MCP is a call of an MCP server.
type MCP struct {
	Tool    string `json:"tool,omitzero"`
	Session string `json:"session,omitzero"`
	Server  string `json:"server,omitzero"`
	IsError bool   `json:"isError"`
}

// A Cause is the certain or possible cause of an exchange.
type Cause struct {
	Exchange uint64   `json:"exchange,omitzero"` // by its number; absent if it is not known
	How      string   `json:"how"`               // description
	Proved   bool     `json:"proved"`
	OneOf    []uint64 `json:"oneOf,omitempty"` // the first of those between which nothing decides
	More     int      `json:"more,omitzero"`   // how many there are beyond these
}

// exchange is an exchange as JSON: one line of JSON Lines.
type exchange struct {
	N          uint64                  `json:"n"`
	ID         string                  `json:"id"`
	Conn       uint64                  `json:"conn"`
	HTTP       string                  `json:"http,omitzero"` // "1.1", "2"; not read, since the request line says it
	Stream     uint32                  `json:"stream,omitzero"`
	GRPC       *exchangejson.Status    `json:"grpc,omitzero"` // not read, since trailer or head say it
	Link       string                  `json:"link"`
	Client     capture.Peer            `json:"client"`
	Agent      capture.Peer            `json:"agent"`
	Started    string                  `json:"started"`
	DurationMs *float64                `json:"durationMs"`
	Dialect    string                  `json:"dialect"`
	Binding    string                  `json:"binding"`
	Operation  string                  `json:"operation"`
	Task       []string                `json:"task"`
	Context    []string                `json:"context"`
	State      string                  `json:"state"`
	Request    *message                `json:"request"`
	Response   *message                `json:"response"`
	Fault      *capture.TransportFault `json:"fault"`
	Flags      []string                `json:"flags"`
	Rewrites   []capture.Rewrite       `json:"rewrites"`
	Marks      []string                `json:"marks"`
	Comment    string                  `json:"comment"`
	Cause      *Cause                  `json:"cause,omitzero"` // not read, since checking the capture finds it again
	Kind       string                  `json:"kind,omitzero"`  // not read, like model and mcp, since the exchange shows it
	Model      *Model                  `json:"model,omitzero"`
	MCP        *MCP                    `json:"mcp,omitzero"`
	Extra      *exchangejson.Extra     `json:"_a2atap,omitzero"`
}

// message is a request or a response as JSON.
type message struct {
	Line         string              `json:"line"`
	Status       *int                `json:"status,omitzero"` // of a response
	Headers      [][]string          `json:"headers"`
	Trailers     [][]string          `json:"trailers,omitzero"` // not read, since the raw trailer says them
	Body         jsontext.Value      `json:"body,omitzero"`     // a string; null if not kept; absent if there are events
	BodyEncoding string              `json:"bodyEncoding,omitzero"`
	Events       exchangejson.Events `json:"events,omitzero"` // of a stream
	Size         *int64              `json:"size"`
	Dropped      int64               `json:"dropped"`
}

// appendJSON appends an exchange as one JSON object in one line, without a line end. The annotator may be nil.
func appendJSON(b []byte, x *capture.Exchange, a Annotator) ([]byte, error) {
	j := exchangeOf(x)
	if a != nil {
		j.annotate(a.Annotate(x))
	}
	text, err := json.Marshal(j, exchangejson.Lenient, json.Deterministic(true))
	if err != nil {
		return b, fmt.Errorf("write exchange %d as json: %w", x.Seq, err)
	}
	return append(b, safetext.JSON(text)...), nil
}

func (j *exchange) annotate(a Annotation) {
	if a.Link != "" {
		j.Link = a.Link
	}
	j.Dialect, j.Binding, j.Operation, j.State = a.Dialect, a.Binding, a.Operation, a.State
	j.Task, j.Context, j.Marks, j.Comment, j.Cause = a.Task, a.Context, a.Marks, a.Comment, a.Cause
	j.Kind, j.Model, j.MCP = a.Kind, a.Model, a.MCP
}

// Format returns an exchange as one JSON object in one line, without a line end. The annotator may be nil.
func Format(x *capture.Exchange, a Annotator) ([]byte, error) { return appendJSON(nil, x, a) }

// A Writer writes exchanges as JSON Lines, one at a time.
type Writer struct {
	w         *bufio.Writer
	annotator Annotator
	line      []byte
}

// NewWriter returns a writer to w. The annotator may be nil.
func NewWriter(w io.Writer, a Annotator) *Writer {
	return &Writer{w: bufio.NewWriter(w), annotator: a}
}

// Gaps writes a line with what is missing from the capture, {"gaps": {...}}; nothing if nothing is. It comes before the
// exchanges.
func (w *Writer) Gaps(g capture.Gaps) error {
	if g == (capture.Gaps{}) {
		return nil
	}
	text, err := json.Marshal(gapsLine{exchangejson.GapsOf(&g)}, json.Deterministic(true))
	if err == nil {
		_, err = w.w.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the gaps as json: %w", err)
	}
	return nil
}

// gapsLine is the line with what is missing from the capture.
type gapsLine struct {
	Gaps exchangejson.Gaps `json:"gaps"`
}

// readGaps reads a line with gaps; is is false if it is another line.
func readGaps(line []byte) (g capture.Gaps, is bool, err error) {
	dec := jsontext.NewDecoder(bytes.NewReader(line), exchangejson.Lenient)
	if begin, err := dec.ReadToken(); err != nil || begin.Kind() != '{' {
		return g, false, nil
	}
	if name, err := dec.ReadToken(); err != nil || name.Kind() != '"' || name.String() != "gaps" {
		return g, false, nil
	}
	var read gapsLine
	if err := json.Unmarshal(line, &read, exchangejson.Lenient); err != nil {
		return g, true, exchangejson.Explain(err)
	}
	g, err = read.Gaps.Gaps()
	return g, true, err
}

// Write adds an exchange.
func (w *Writer) Write(x *capture.Exchange) error {
	var err error
	if w.line, err = appendJSON(w.line[:0], x, w.annotator); err != nil {
		return err
	}
	if _, err := w.w.Write(append(w.line, '\n')); err != nil {
		return fmt.Errorf("write exchange %d as json: %w", x.Seq, err)
	}
	return nil
}

// Close writes out what is pending. It does not close the writer below.
func (w *Writer) Close() error {
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("end json lines: %w", err)
	}
	return nil
}

func exchangeOf(x *capture.Exchange) *exchange {
	j := &exchange{
		N: x.Seq, ID: x.ID.String(), Conn: x.Conn, Stream: x.Stream, GRPC: exchangejson.StatusOf(x),
		Client: x.Client, Agent: x.Agent,
		Started: exchangejson.Time(x.Started), DurationMs: exchangejson.Milliseconds(x.Took()),
		Fault: x.Fault, Flags: flagsOf(x), Rewrites: x.Rewrites,
		Extra: &exchangejson.Extra{Notes: x.Notes, Lost: x.Lost, Ends: exchangejson.SideEndsOf(x)},
	}
	if x.Took() != x.Ended { // the client left before
		j.Extra.EndedMs = exchangejson.Milliseconds(x.Ended)
	}
	if x.Client.Name != "" && x.Agent.Name != "" {
		j.Link = x.Client.Name + "->" + x.Agent.Name
	}
	h := capture.ParseRequestHead(x.Request.Head)
	_, j.HTTP, _ = strings.Cut(h.Version, "/")
	b := &x.Request.Body
	data, decoded := exchangejson.ExportBody(b, h.Fields.Codings())
	j.Request = messageOf(&h, b, data)
	j.Request.Trailers = pairs(trailers(x.Request.Trailer))
	j.Extra.Request = exchangejson.ExtraOfRequest(&x.Request, j.Request.head(), &h, decoded)
	omitRepeated(j.Extra.Request)
	if r := x.Response; r != nil {
		h := capture.ParseResponseHead(r.Head)
		data, decoded := exchangejson.ExportBody(&r.Body, h.Fields.Codings())
		j.Response = messageOf(&h, &r.Body, data)
		j.Response.Status = &h.Status
		j.Response.Trailers = pairs(trailers(r.Trailer))
		j.Response.events(r)
		j.Extra.Response = exchangejson.ExtraOfResponse(r, j.Response.head(), &h, decoded)
		omitRepeated(j.Extra.Response)
	}
	return j
}

// omitRepeated removes what the message itself has.
func omitRepeated(m *exchangejson.ExtraMessage) {
	m.Size, m.Dropped, m.Missing, m.Stream = nil, 0, false, nil
}

// flagsOf returns the flags of an exchange.
func flagsOf(x *capture.Exchange) []string {
	flags := []string{}
	add := func(flag string, on bool) {
		if on {
			flags = append(flags, flag)
		}
	}
	add("open", x.State == capture.StateOpen)
	add("cut", x.Request.Body.Dropped > 0 || x.Response != nil && x.Response.Body.Dropped > 0)
	add("interrupted", x.State == capture.StateInterrupted)
	add("rewritten", len(x.Rewrites) > 0)
	add("replayed", x.Replayed)
	add("faulted", x.FaultMade() != "")
	return flags
}

func messageOf(h *capture.Head, b *capture.Body, data []byte) *message {
	m := &message{
		Line: h.Line, Headers: append([][]string{}, pairs(h.Fields)...), Size: exchangejson.Known(b.Size), Dropped: b.Dropped,
		Body: jsontext.Value("null"),
	}
	if data != nil {
		var text string
		text, m.BodyEncoding = exchangejson.Text(data)
		m.Body, _ = jsontext.AppendQuote(nil, text) // exchangejson.Text returns UTF-8, so it cannot fail
	}
	return m
}

func trailers(raw []byte) capture.Fields {
	fields, _ := capture.ParseFields(raw)
	return fields
}

// pairs returns fields as pairs of name and value; nil for no fields.
func pairs(fields capture.Fields) [][]string {
	var list [][]string
	for _, f := range fields {
		list = append(list, []string{f.Name, f.Value})
	}
	return list
}

// events puts the events of a stream where the body would be.
func (m *message) events(r *capture.Response) {
	if !r.Stream {
		return
	}
	m.Body, m.BodyEncoding, m.Events.Written = nil, "", make([]exchangejson.Event, 0, len(r.Events))
	for i := range r.Events {
		j := exchangejson.EventOf(&r.Events[i])
		if j.RawEncoding == "" && bytes.Equal(j.PlainRaw(), r.Events[i].Raw) {
			j.Raw, j.RawEncoding = nil, ""
		}
		m.Events.Written = append(m.Events.Written, j)
	}
}

// head makes a raw head of the line and the fields.
func (m *message) head() []byte {
	fields := make(capture.Fields, 0, len(m.Headers))
	for _, f := range m.Headers {
		if len(f) == 2 {
			fields = append(fields, capture.Field{Name: f[0], Value: f[1]})
		}
	}
	return exchangejson.Head(m.Line, fields)
}

// sniffSize is how many bytes of a file are read to see whether it has an object in its first line.
const sniffSize = 64 << 10

var errNoLines = fmt.Errorf("%w: not JSON Lines: the first line is not an object", capture.ErrFormat)

// beginsObject reports whether a file that begins so may have an object in its first line.
func beginsObject(begin []byte) bool {
	rest := bytes.TrimLeft(begin, " \t\r\n")
	return len(rest) == 0 && len(begin) < sniffSize || len(rest) > 0 && rest[0] == '{'
}

// Scan finds the lines with exchanges, and adds to gaps what other lines say is missing from the capture.
func Scan(r io.Reader, gaps *capture.Gaps, yield func([]byte, int64) bool) error {
	limit := exchangejson.NewLimit(r)
	b := bufio.NewReaderSize(limit, sniffSize)
	if begin, _ := b.Peek(sniffSize); len(begin) > 0 && !beginsObject(begin) {
		return errNoLines
	}
	offset := int64(0)
	for {
		limit.Next()
		line, err := b.ReadBytes('\n')
		if record := bytes.TrimSpace(line); len(record) > 0 {
			at := offset + int64(bytes.IndexByte(line, record[0]))
			if offset == 0 && jsontext.Value(record).Kind() != '{' {
				return errNoLines
			}
			switch found, is, err := readGaps(record); {
			case err != nil:
				return fmt.Errorf("read json lines: byte %d: gaps: %w", at, err)
			case is:
				gaps.Add(found)
			case !yield(record, at):
				return nil
			}
		}
		offset += int64(len(line))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read json lines: byte %d: %w", offset, err)
		}
	}
}

// Place is what the order of lines depends on.
func Place(raw []byte) (n uint64, started time.Time, err error) {
	var i struct {
		N       uint64 `json:"n"`
		Started string `json:"started"`
	}
	if err := json.Unmarshal(raw, &i, exchangejson.Lenient); err != nil {
		return 0, time.Time{}, exchangejson.Explain(err)
	}
	if i.Started != "" {
		if started, err = exchangejson.ParseTime(i.Started); err != nil {
			return 0, time.Time{}, fmt.Errorf("started: %w", err)
		}
	}
	return i.N, started, nil
}

// Read reads a line. Its number and its start are those that the file's order gave it.
func Read(raw []byte, seq uint64, started time.Time) (*capture.Exchange, error) {
	var j exchange
	if err := json.Unmarshal(raw, &j, exchangejson.Lenient); err != nil {
		return nil, exchangejson.Explain(err)
	}
	if j.Request == nil {
		return nil, errors.New("request: it is missing")
	}
	x := &capture.Exchange{
		Seq: seq, Started: started, Conn: j.Conn, Stream: j.Stream, Client: j.Client, Agent: j.Agent,
		Ended: exchangejson.Duration(j.DurationMs), State: capture.StateClosed, Fault: j.Fault,
		Rewrites: append([]capture.Rewrite(nil), j.Rewrites...), Replayed: slices.Contains(j.Flags, "replayed"),
	}
	if j.Extra != nil && j.Extra.EndedMs != nil {
		x.Ended = exchangejson.Duration(j.Extra.EndedMs)
	}
	switch {
	case slices.Contains(j.Flags, "open"):
		x.State = capture.StateOpen
	case slices.Contains(j.Flags, "interrupted"):
		x.State = capture.StateInterrupted
	}
	var err error
	if x.ID, err = uuid.Parse(j.ID); err != nil && j.ID != "" {
		return nil, fmt.Errorf("id: %w", err)
	}
	return x, j.readMessages(x)
}

// readMessages reads what was sent.
func (j *exchange) readMessages(x *capture.Exchange) error {
	if j.Extra == nil {
		j.Extra = &exchangejson.Extra{Request: &exchangejson.ExtraMessage{}, Response: &exchangejson.ExtraMessage{}}
	}
	data, err := j.Request.data()
	if err != nil {
		return fmt.Errorf("request.body: %w", err)
	}
	x.Request = capture.Request{Head: j.Request.head(), Body: capture.Body{Data: data}}
	j.Request.restoreSizes(j.Extra.Request)
	if r := j.Response; r != nil {
		data, err := r.data()
		if err != nil {
			return fmt.Errorf("response.body: %w", err)
		}
		x.Response = &capture.Response{
			Head: r.head(), At: capture.NotKnown, Stream: !r.Events.IsZero(),
			Body: capture.Body{Data: data},
		}
		events, at, err := r.Events.Read()
		if err != nil {
			return fmt.Errorf("response.events[%d].raw: %w", at, err)
		}
		x.Response.Events = events
		r.restoreSizes(j.Extra.Response)
	}
	j.Extra.ApplyMessages(x)
	return nil
}

// data returns the bytes of a body, nil if it is missing.
func (m *message) data() ([]byte, error) {
	if m.missing() {
		return nil, nil
	}
	text, err := jsontext.AppendUnquote(nil, m.Body)
	if err != nil {
		return nil, errors.New("it is neither a string nor null")
	}
	return exchangejson.Bytes(string(text), strings.ToLower(m.BodyEncoding))
}

func (m *message) missing() bool { return m.Body == nil || m.Body.Kind() == 'n' }

// restoreSizes puts back what omitRepeated took out.
func (m *message) restoreSizes(e *exchangejson.ExtraMessage) {
	if e != nil {
		e.Size, e.Dropped, e.Missing = m.Size, m.Dropped, m.missing()
	}
}
