// Package exchangejson has the JSON that HAR and JSON Lines share: the parts of an exchange, and the object "_a2atap",
// for everything that these formats cannot express.
//
// In that object absence means: offsets and sizes are not known, all else is as HTTP would have it.
package exchangejson

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
)

// Lenient is how JSON of others is read: a second member of the same name counts, bytes that are not UTF-8 become
// U+FFFD.
var Lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Extra is the object "_a2atap". In JSON Lines the first fields are in the exchange itself.
type Extra struct {
	N        uint64                  `json:"n,omitzero"`
	ID       string                  `json:"id,omitzero"`
	Conn     uint64                  `json:"conn,omitzero"`
	Stream   uint32                  `json:"stream,omitzero"` // of HTTP/2
	GRPC     *Status                 `json:"grpc,omitzero"`
	Client   *capture.Peer           `json:"client,omitzero"`
	Agent    *capture.Peer           `json:"agent,omitzero"`
	State    string                  `json:"state,omitzero"`
	EndedMs  *float64                `json:"endedMs,omitzero"`
	Fault    *capture.TransportFault `json:"fault,omitzero"`
	Rewrites []capture.Rewrite       `json:"rewrites,omitzero"`
	Replayed bool                    `json:"replayed,omitzero"`

	Request  *ExtraMessage `json:"request,omitzero"`
	Response *ExtraMessage `json:"response,omitzero"`
	Notes    []string      `json:"notes,omitzero"`
	Lost     int64         `json:"lost,omitzero"`
	Ends     []SideEnd     `json:"ends,omitzero"`
}

// A SideEnd is a capture.SideEnd.
type SideEnd struct {
	Side     string   `json:"side"`
	How      string   `json:"how"`
	AtMs     *float64 `json:"atMs,omitzero"`
	Request  int64    `json:"request,omitzero"`
	Response int64    `json:"response,omitzero"`
}

// SideEndsOf returns how the sides of an exchange ended their part.
func SideEndsOf(x *capture.Exchange) []SideEnd {
	var ends []SideEnd
	for _, e := range x.Ends {
		ends = append(ends, SideEnd{e.Side, e.How, Milliseconds(e.At), e.Request, e.Response})
	}
	return ends
}

// An ExtraMessage has the properties of a message that the formats cannot express.
type ExtraMessage struct {
	Head          raw      `json:"head,omitzero"` // if a line and a list of fields do not give it back
	NoHead        bool     `json:"noHead,omitzero"`
	Informational []raw    `json:"informational,omitzero"`
	Trailer       raw      `json:"trailer,omitzero"`
	AtMs          *float64 `json:"atMs,omitzero"`  // its head, if it is a response
	EndMs         *float64 `json:"endMs,omitzero"` // the last byte of its body
	Size          *int64   `json:"size,omitzero"`
	Dropped       int64    `json:"dropped,omitzero"`
	Incomplete    bool     `json:"incomplete,omitzero"`
	Decoded       *bool    `json:"decoded,omitzero"` // if Content-Encoding does not say
	Stream        *bool    `json:"stream,omitzero"`  // if Content-Type does not say
	Missing       bool     `json:"missing,omitzero"` // nothing of the body was kept
}

// ExportBody returns the bytes of a body as the formats hold them, its content codings taken off where that can be done
// to the end, and whether they are off.
func ExportBody(b *capture.Body, codings []string) (data []byte, decoded bool) {
	if b.Data == nil || b.Decoded || len(codings) == 0 {
		return b.Data, b.Decoded
	}
	if data, err := capture.Decode(b.Data, codings, capture.DefaultDecodeLimit); err == nil && b.Kept() && b.Complete {
		return data, true
	}
	return b.Data, false
}

// ExtraOfRequest returns the properties of a request other than its line, fields and body. rebuilt is the head that
// results from line and fields; decoded reports whether the exported body is without its codings.
func ExtraOfRequest(r *capture.Request, rebuilt []byte, h *capture.Head, decoded bool) *ExtraMessage {
	return extraOf(r.Head, rebuilt, h, &r.Body, r.Trailer, decoded)
}

func extraOf(head, rebuilt []byte, h *capture.Head, b *capture.Body, trailer []byte, decoded bool) *ExtraMessage {
	m := &ExtraMessage{
		Trailer: trailer, EndMs: Milliseconds(b.At), Size: Known(b.Size), Dropped: b.Dropped, Incomplete: !b.Complete,
		NoHead: head == nil, Missing: b.Data == nil,
	}
	if head != nil && (string(head) != string(rebuilt) || !utf8.Valid(head)) { // JSON replaces what is not UTF-8
		m.Head = head
	}
	if decoded != (b.Data != nil && len(h.Fields.Codings()) > 0) {
		m.Decoded = &decoded
	}
	return m
}

// apply applies the properties to a message and returns its head, which is head unless the properties replace it. A
// body without text is empty, unless it is missing or comes as events.
func (m *ExtraMessage) apply(head []byte, b *capture.Body, trailer *[]byte, stream bool) []byte {
	switch {
	case m.NoHead:
		head = nil
	case m.Head != nil:
		head = m.Head
	}
	b.At, b.Size, b.Dropped, b.Complete = Duration(m.EndMs), numberOf(m.Size), m.Dropped, !m.Incomplete
	*trailer = m.Trailer
	switch {
	case m.Missing || stream:
		b.Data = nil
	case b.Data == nil:
		b.Data = []byte{}
	}
	h := capture.ParseRequestHead(head) // for its fields
	b.Decoded = b.Data != nil && len(h.Fields.Codings()) > 0
	if m.Decoded != nil {
		b.Decoded = *m.Decoded
	}
	return head
}

// applyResponse applies the properties to a response, except for its body.
func (m *ExtraMessage) applyResponse(r *capture.Response) {
	r.Head = m.apply(r.Head, &r.Body, &r.Trailer, r.Stream)
	r.At = Duration(m.AtMs)
	for _, head := range m.Informational {
		r.Informational = append(r.Informational, head)
	}
}

// ExtraOfResponse is ExtraOfRequest for a response.
func ExtraOfResponse(r *capture.Response, rebuilt []byte, h *capture.Head, decoded bool) *ExtraMessage {
	m := extraOf(r.Head, rebuilt, h, &r.Body, r.Trailer, decoded)
	m.AtMs = Milliseconds(r.At)
	m.Missing = m.Missing && !r.Stream
	for _, head := range r.Informational {
		m.Informational = append(m.Informational, head)
	}
	if again := capture.ParseResponseHead(rebuilt); r.Stream != IsStream(&again) {
		m.Stream = &r.Stream
	}
	return m
}

// IsStream reports whether a head announces an event stream.
func IsStream(h *capture.Head) bool { return h.Fields.MediaType() == "text/event-stream" }

// ApplyMessages puts what was recorded of the messages into them.
func (m *Extra) ApplyMessages(x *capture.Exchange) {
	x.Notes, x.Lost = m.Notes, m.Lost
	for _, e := range m.Ends {
		x.Ends = append(x.Ends, capture.SideEnd{
			Side: e.Side, How: e.How, At: Duration(e.AtMs), Request: e.Request, Response: e.Response,
		})
	}
	if r := m.Request; r != nil {
		x.Request.Head = r.apply(x.Request.Head, &x.Request.Body, &x.Request.Trailer, false)
	}
	if r := m.Response; r != nil && x.Response != nil {
		r.applyResponse(x.Response)
	}
}
