package capture

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
)

// An Annotator says of an exchange what the protocol and its readers know about it. It is asked by a writer of JSON; none
// of it is part of the record.
type Annotator interface {
	Annotate(x *Exchange) Annotation
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
}

// jsonExchange is an exchange as JSON: one line of JSON Lines.
type jsonExchange struct {
	N          uint64        `json:"n"`
	ID         string        `json:"id"`
	Conn       uint64        `json:"conn"`
	Link       string        `json:"link"`
	Client     jsonPeer      `json:"client"`
	Agent      jsonPeer      `json:"agent"`
	Started    string        `json:"started"`
	DurationMs *float64      `json:"durationMs"`
	Dialect    string        `json:"dialect"`
	Binding    string        `json:"binding"`
	Operation  string        `json:"operation"`
	Task       []string      `json:"task"`
	Context    []string      `json:"context"`
	State      string        `json:"state"`
	Request    *jsonMessage  `json:"request"`
	Response   *jsonMessage  `json:"response"`
	Fault      *jsonFault    `json:"fault"`
	Flags      []string      `json:"flags"`
	Rewrites   []jsonRewrite `json:"rewrites"`
	Marks      []string      `json:"marks"`
	Comment    string        `json:"comment"`
	Extra      *extra        `json:"_a2atap,omitzero"`
}

// jsonMessage is a request or a response as JSON.
type jsonMessage struct {
	Line         string         `json:"line"`
	Status       *int           `json:"status,omitzero"` // of a response
	Headers      [][]string     `json:"headers"`
	Body         jsontext.Value `json:"body,omitzero"` // a string; null if nothing was kept; absent if there are events
	BodyEncoding string         `json:"bodyEncoding,omitzero"`
	Events       []eventJSON    `json:"events,omitzero"` // of a stream
	Size         *int64         `json:"size"`
	Dropped      int64          `json:"dropped"`
}

// AppendJSON appends an exchange as one JSON object in one line, without a line end. The annotator may be nil.
func AppendJSON(b []byte, x *Exchange, a Annotator) ([]byte, error) {
	j := jsonExchangeOf(x)
	if a != nil {
		j.annotate(a.Annotate(x))
	}
	text, err := json.Marshal(j, lenient, json.Deterministic(true))
	if err != nil {
		return b, fmt.Errorf("write exchange %d as json: %w", x.Seq, err)
	}
	return append(b, text...), nil
}

func (j *jsonExchange) annotate(a Annotation) {
	if a.Link != "" {
		j.Link = a.Link
	}
	j.Dialect, j.Binding, j.Operation, j.State = a.Dialect, a.Binding, a.Operation, a.State
	j.Task, j.Context, j.Marks, j.Comment = a.Task, a.Context, a.Marks, a.Comment
}

// A JSONLWriter writes exchanges as JSON Lines, one at a time.
type JSONLWriter struct {
	w         *bufio.Writer
	annotator Annotator
	line      []byte
}

// NewJSONLWriter returns a writer to w. The annotator may be nil.
func NewJSONLWriter(w io.Writer, a Annotator) *JSONLWriter {
	return &JSONLWriter{w: bufio.NewWriter(w), annotator: a}
}

// Write adds an exchange.
func (w *JSONLWriter) Write(x *Exchange) error {
	var err error
	if w.line, err = AppendJSON(w.line[:0], x, w.annotator); err != nil {
		return err
	}
	if _, err := w.w.Write(append(w.line, '\n')); err != nil {
		return fmt.Errorf("write exchange %d as json: %w", x.Seq, err)
	}
	return nil
}

// Close writes out what is pending. It does not close the writer below.
func (w *JSONLWriter) Close() error {
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("end json lines: %w", err)
	}
	return nil
}

func jsonExchangeOf(x *Exchange) *jsonExchange {
	j := &jsonExchange{
		N: x.Seq, ID: x.ID.String(), Conn: x.Conn, Client: jsonPeer(x.Client), Agent: jsonPeer(x.Agent),
		Started: harTime(x.Started), DurationMs: milliseconds(x.Ended), Fault: (*jsonFault)(x.Fault), Flags: flagsOf(x),
		Rewrites: jsonRewrites(x.Rewrites), Extra: &extra{Notes: x.Notes, Lost: x.Lost},
	}
	if x.Client.Name != "" && x.Agent.Name != "" {
		j.Link = x.Client.Name + "->" + x.Agent.Name
	}
	h := ParseRequestHead(x.Request.Head)
	b := &x.Request.Body
	data, decoded := exportBody(b, h.Fields.Codings())
	j.Request = jsonMessageOf(&h, b, data)
	j.Extra.Request = extraOf(x.Request.Head, j.Request.head(), &h, b, x.Request.Trailer, decoded)
	j.Extra.Request.saidAbove()
	if r := x.Response; r != nil {
		h := ParseResponseHead(r.Head)
		data, decoded := exportBody(&r.Body, h.Fields.Codings())
		j.Response = jsonMessageOf(&h, &r.Body, data)
		j.Response.Status = &h.Status
		j.Response.events(r)
		j.Extra.Response = extraOfResponse(r, j.Response.head(), &h, decoded)
		j.Extra.Response.saidAbove()
	}
	return j
}

// saidAbove takes out what stands in the message itself.
func (m *extraMessage) saidAbove() { m.Size, m.Dropped, m.Missing, m.Stream = nil, 0, false, nil }

// flagsOf returns the flags of an exchange.
func flagsOf(x *Exchange) []string {
	flags := []string{}
	add := func(flag string, on bool) {
		if on {
			flags = append(flags, flag)
		}
	}
	add("open", x.State == StateOpen)
	add("cut", x.Request.Body.Dropped > 0 || x.Response != nil && x.Response.Body.Dropped > 0)
	add("interrupted", x.State == StateInterrupted)
	add("rewritten", len(x.Rewrites) > 0)
	add("replayed", x.Replayed)
	return flags
}

func jsonMessageOf(h *Head, b *Body, data []byte) *jsonMessage {
	m := &jsonMessage{
		Line: h.Line, Headers: [][]string{}, Size: known(b.Size), Dropped: b.Dropped, Body: jsontext.Value("null"),
	}
	for _, f := range h.Fields {
		m.Headers = append(m.Headers, []string{f.Name, f.Value})
	}
	if data != nil {
		var text string
		text, m.BodyEncoding = textOf(data)
		m.Body, _ = jsontext.AppendQuote(nil, text) // textOf returns UTF-8, so it cannot fail
	}
	return m
}

// events puts the events of a stream where the body would be.
func (m *jsonMessage) events(r *Response) {
	if !r.Stream {
		return
	}
	m.Body, m.BodyEncoding, m.Events = nil, "", make([]eventJSON, 0, len(r.Events))
	for i := range r.Events {
		j := eventOf(&r.Events[i])
		if bytes.Equal(j.plainRaw(), r.Events[i].Raw) {
			j.Raw, j.RawEncoding = nil, ""
		}
		m.Events = append(m.Events, j)
	}
}

// head makes a raw head of the line and the fields.
func (m *jsonMessage) head() []byte {
	pairs := make([]harPair, 0, len(m.Headers))
	for _, f := range m.Headers {
		if len(f) == 2 {
			pairs = append(pairs, harPair{f[0], f[1]})
		}
	}
	return harHead(m.Line, pairs)
}

// jsonPlace is what the order of lines depends on.
func jsonPlace(raw []byte) (n uint64, started time.Time, err error) {
	var i struct {
		N       uint64 `json:"n"`
		Started string `json:"started"`
	}
	if err := json.Unmarshal(raw, &i, lenient); err != nil {
		return 0, time.Time{}, jsonError(err)
	}
	if i.Started != "" {
		if started, err = parseHARTime(i.Started); err != nil {
			return 0, time.Time{}, fmt.Errorf("started: %w", err)
		}
	}
	return i.N, started, nil
}

// readJSONLine reads a line. Its number and its start are those that the file's order gave it.
func readJSONLine(raw []byte, seq uint64, started time.Time) (*Exchange, error) {
	var j jsonExchange
	if err := json.Unmarshal(raw, &j, lenient); err != nil {
		return nil, jsonError(err)
	}
	if j.Request == nil {
		return nil, errors.New("request: it is missing")
	}
	x := &Exchange{
		Seq: seq, Started: started, Conn: j.Conn, Client: j.Client.peer(), Agent: j.Agent.peer(),
		Ended: duration(j.DurationMs), State: StateClosed, Fault: (*Fault)(j.Fault), Rewrites: rewritesOf(j.Rewrites),
		Replayed: slices.Contains(j.Flags, "replayed"),
	}
	switch {
	case slices.Contains(j.Flags, "open"):
		x.State = StateOpen
	case slices.Contains(j.Flags, "interrupted"):
		x.State = StateInterrupted
	}
	var err error
	if x.ID, err = uuid.Parse(j.ID); err != nil && j.ID != "" {
		return nil, fmt.Errorf("id: %w", err)
	}
	return x, j.readMessages(x)
}

// readMessages reads what was sent.
func (j *jsonExchange) readMessages(x *Exchange) error {
	if j.Extra == nil {
		j.Extra = &extra{Request: &extraMessage{}, Response: &extraMessage{}}
	}
	data, err := j.Request.data()
	if err != nil {
		return fmt.Errorf("request.body: %w", err)
	}
	x.Request = Request{Head: j.Request.head(), Body: Body{Data: data}}
	j.Request.saySizes(j.Extra.Request)
	if r := j.Response; r != nil {
		data, err := r.data()
		if err != nil {
			return fmt.Errorf("response.body: %w", err)
		}
		x.Response = &Response{Head: r.head(), At: NotKnown, Stream: r.Events != nil, Body: Body{Data: data}}
		events, at, err := eventsOf(r.Events)
		if err != nil {
			return fmt.Errorf("response.events[%d].raw: %w", at, err)
		}
		x.Response.Events = events
		r.saySizes(j.Extra.Response)
	}
	j.Extra.applyMessages(x)
	return nil
}

// data returns the bytes of a body, nil if it is missing.
func (m *jsonMessage) data() ([]byte, error) {
	if m.missing() {
		return nil, nil
	}
	text, err := jsontext.AppendUnquote(nil, m.Body)
	if err != nil {
		return nil, errors.New("it is neither a string nor null")
	}
	return bytesOf(string(text), strings.ToLower(m.BodyEncoding))
}

func (m *jsonMessage) missing() bool { return m.Body == nil || m.Body.Kind() == 'n' }

// saySizes puts back what saidAbove took out.
func (m *jsonMessage) saySizes(e *extraMessage) {
	if e != nil {
		e.Size, e.Dropped, e.Missing = m.Size, m.Dropped, m.missing()
	}
}
