package capture

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What HAR and JSON Lines have in common: the JSON of the parts of an exchange, and the object "_a2atap", which holds
// what those formats have no room for.
//
// In it absence means: offsets and sizes are not known, all else is as HTTP would have it.

// lenient is how JSON of others is read: a second member of the same name counts, bytes that are not UTF-8 become U+FFFD.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// extra is the object "_a2atap". In JSON Lines the first fields stand in the exchange itself.
type extra struct {
	N        uint64        `json:"n,omitzero"`
	ID       string        `json:"id,omitzero"`
	Conn     uint64        `json:"conn,omitzero"`
	Client   *jsonPeer     `json:"client,omitzero"`
	Agent    *jsonPeer     `json:"agent,omitzero"`
	State    string        `json:"state,omitzero"`
	EndedMs  *float64      `json:"endedMs,omitzero"`
	Fault    *jsonFault    `json:"fault,omitzero"`
	Rewrites []jsonRewrite `json:"rewrites,omitzero"`
	Replayed bool          `json:"replayed,omitzero"`

	Request  *extraMessage `json:"request,omitzero"`
	Response *extraMessage `json:"response,omitzero"`
	Notes    []string      `json:"notes,omitzero"`
	Lost     int64         `json:"lost,omitzero"`
}

// extraMessage is what the formats cannot say of a message.
type extraMessage struct {
	Head          rawJSON   `json:"head,omitzero"` // if a line and a list of fields do not give it back
	NoHead        bool      `json:"noHead,omitzero"`
	Informational []rawJSON `json:"informational,omitzero"`
	Trailer       rawJSON   `json:"trailer,omitzero"`
	AtMs          *float64  `json:"atMs,omitzero"`  // its head, if it is a response
	EndMs         *float64  `json:"endMs,omitzero"` // the last byte of its body
	Size          *int64    `json:"size,omitzero"`
	Dropped       int64     `json:"dropped,omitzero"`
	Incomplete    bool      `json:"incomplete,omitzero"`
	Decoded       *bool     `json:"decoded,omitzero"` // if Content-Encoding does not tell
	Stream        *bool     `json:"stream,omitzero"`  // if Content-Type does not tell
	Missing       bool      `json:"missing,omitzero"` // nothing of the body was kept
}

type jsonPeer struct {
	Name string `json:"name"`
	Addr string `json:"addr,omitzero"`
	URL  string `json:"url,omitzero"`
	How  string `json:"how,omitzero"`
}

func (p *jsonPeer) peer() Peer {
	if p == nil {
		return Peer{}
	}
	return Peer(*p)
}

type jsonFault struct {
	Kind   string `json:"kind"`
	Side   string `json:"side"`
	Detail string `json:"detail"`
}

type jsonRewrite struct {
	Place string `json:"place"`
	Was   string `json:"was"`
	Now   string `json:"now"`
}

func jsonRewrites(rewrites []Rewrite) []jsonRewrite {
	var list []jsonRewrite
	for _, r := range rewrites {
		list = append(list, jsonRewrite(r))
	}
	return list
}

func rewritesOf(list []jsonRewrite) []Rewrite {
	var rewrites []Rewrite
	for _, r := range list {
		rewrites = append(rewrites, Rewrite(r))
	}
	return rewrites
}

// rawJSON is bytes in JSON: a string if they are UTF-8, else {"base64": "..."}.
type rawJSON []byte

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) {
	if utf8.Valid(r) {
		return jsontext.AppendQuote(nil, string(r))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(r)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawJSON) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		text, err := jsontext.AppendUnquote([]byte{}, data)
		*r = text
		return err
	}
	var coded struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(data, &coded); err != nil {
		return err
	}
	if coded.Base64 == nil {
		return fmt.Errorf(`want a string or {"base64": "..."}`)
	}
	raw, err := base64.StdEncoding.DecodeString(*coded.Base64)
	*r = raw
	return err
}

// textOf returns bytes as the text of a JSON string, and "base64" if that is what it is.
func textOf(data []byte) (text, encoding string) {
	if utf8.Valid(data) {
		return string(data), ""
	}
	return base64.StdEncoding.EncodeToString(data), "base64"
}

// bytesOf is the other way. The result is never nil.
func bytesOf(text, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return []byte(text), nil
	case "base64":
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("read base64: %w", err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("no encoding %q; there is base64", encoding)
}

// milliseconds returns a duration in milliseconds, nil if it is not known.
func milliseconds(d time.Duration) *float64 {
	if d == NotKnown {
		return nil
	}
	ms := float64(d) / float64(time.Millisecond)
	return &ms
}

// duration is the other way. What no duration can hold is not known.
func duration(ms *float64) time.Duration {
	const most = float64(math.MaxInt64) / 2 / float64(time.Millisecond)
	if ms == nil || !(*ms >= 0 && *ms < most) {
		return NotKnown
	}
	return time.Duration(math.Round(*ms * float64(time.Millisecond)))
}

// known returns a pointer to a number, nil if it is NotKnown.
func known(n int64) *int64 {
	if n == NotKnown {
		return nil
	}
	return &n
}

// numberOf is the other way.
func numberOf(n *int64) int64 {
	if n == nil || *n < 0 {
		return NotKnown
	}
	return *n
}

// exportBody returns the bytes of a body as the formats hold them, its content codings taken off where that can be done
// to the end, and whether they are off.
func exportBody(b *Body, codings []string) (data []byte, decoded bool) {
	if b.Data == nil || b.Decoded || len(codings) == 0 {
		return b.Data, b.Decoded
	}
	if data, err := Decode(b.Data, codings, DefaultDecodeLimit); err == nil && b.Kept() && b.Complete {
		return data, true
	}
	return b.Data, false
}

// extraOf returns what is to be said of a message beside its line, fields and body. Rebuilt is the head that those give
// back; decoded says whether the body's codings are off in what is exported.
func extraOf(head, rebuilt []byte, h *Head, b *Body, trailer []byte, decoded bool) *extraMessage {
	m := &extraMessage{
		Trailer: trailer, EndMs: milliseconds(b.At), Size: known(b.Size), Dropped: b.Dropped, Incomplete: !b.Complete,
		NoHead: head == nil, Missing: b.Data == nil,
	}
	if head != nil && string(head) != string(rebuilt) {
		m.Head = head
	}
	if decoded != (b.Data != nil && len(h.Fields.Codings()) > 0) {
		m.Decoded = &decoded
	}
	return m
}

// apply puts what was said into a message. Head is what line and fields gave; it returns the head. A body without a
// text is empty unless it is missing, or comes as events.
func (m *extraMessage) apply(head []byte, b *Body, trailer *[]byte, stream bool) []byte {
	switch {
	case m.NoHead:
		head = nil
	case m.Head != nil:
		head = m.Head
	}
	b.At, b.Size, b.Dropped, b.Complete = duration(m.EndMs), numberOf(m.Size), m.Dropped, !m.Incomplete
	*trailer = m.Trailer
	switch {
	case m.Missing || stream:
		b.Data = nil
	case b.Data == nil:
		b.Data = []byte{}
	}
	h := ParseRequestHead(head) // for its fields
	b.Decoded = b.Data != nil && len(h.Fields.Codings()) > 0
	if m.Decoded != nil {
		b.Decoded = *m.Decoded
	}
	return head
}

// applyResponse puts what was said into a response, but for its body.
func (m *extraMessage) applyResponse(r *Response) {
	r.Head = m.apply(r.Head, &r.Body, &r.Trailer, r.Stream)
	r.At = duration(m.AtMs)
	for _, head := range m.Informational {
		r.Informational = append(r.Informational, head)
	}
}

// extraOfResponse returns what is to be said of a response beside its line, fields and body.
func extraOfResponse(r *Response, rebuilt []byte, h *Head, decoded bool) *extraMessage {
	m := extraOf(r.Head, rebuilt, h, &r.Body, r.Trailer, decoded)
	m.AtMs = milliseconds(r.At)
	m.Missing = m.Missing && !r.Stream
	for _, head := range r.Informational {
		m.Informational = append(m.Informational, head)
	}
	if again := ParseResponseHead(rebuilt); r.Stream != isStream(&again) {
		m.Stream = &r.Stream
	}
	return m
}

func isStream(h *Head) bool { return h.Fields.MediaType() == "text/event-stream" }

// An eventJSON is a block of an event stream in JSON.
type eventJSON struct {
	K            int      `json:"k"`
	Time         string   `json:"time,omitzero"` // in HAR
	OffsetMs     *float64 `json:"offsetMs"`
	Event        *string  `json:"event,omitzero"`
	ID           *string  `json:"id,omitzero"`
	Data         *string  `json:"data"`
	Raw          *string  `json:"raw,omitzero"`
	RawEncoding  string   `json:"rawEncoding,omitzero"`
	Dropped      int64    `json:"dropped,omitzero"`
	Unterminated bool     `json:"unterminated,omitzero"`
}

// eventOf returns the JSON of an event, with its raw bytes.
func eventOf(e *Event) eventJSON {
	f := e.Fields()
	j := eventJSON{K: e.K, OffsetMs: milliseconds(e.At), Dropped: e.Dropped, Unterminated: e.Unterminated}
	str := func(b []byte) *string { s := string(b); return &s }
	if f.HasData {
		j.Data = str(f.Data)
	}
	if f.Type != nil {
		j.Event = str(f.Type)
	}
	if f.HasID {
		j.ID = str(f.ID)
	}
	raw, encoding := textOf(e.Raw)
	j.Raw, j.RawEncoding = &raw, encoding
	return j
}

// event is the other way. Without raw bytes it makes them of the fields.
func (j *eventJSON) event() (Event, error) {
	e := Event{K: j.K, At: duration(j.OffsetMs), Dropped: j.Dropped, Unterminated: j.Unterminated}
	if j.Raw == nil {
		e.Raw = j.plainRaw()
		return e, nil
	}
	raw, err := bytesOf(*j.Raw, j.RawEncoding)
	e.Raw = raw
	return e, err
}

// plainRaw returns the plainest block that has these fields.
func (j *eventJSON) plainRaw() []byte {
	var raw []byte
	if j.Event != nil {
		raw = fmt.Appendf(raw, "event: %s\n", *j.Event)
	}
	if j.ID != nil {
		raw = fmt.Appendf(raw, "id: %s\n", *j.ID)
	}
	if j.Data != nil {
		for _, line := range splitLines(*j.Data) {
			raw = fmt.Appendf(raw, "data: %s\n", line)
		}
	}
	return append(raw, '\n')
}

// splitLines cuts at LF, CR and CRLF, as a reader of the stream would.
func splitLines(s string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
}

// eventsOf reads a list of events. Events without a number get the next one. At is the index of the one that is wrong.
func eventsOf(list []eventJSON) (events []Event, at int, err error) {
	events = make([]Event, 0, len(list))
	for i := range list {
		e, err := list[i].event()
		if err != nil {
			return nil, i, err
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil, 0, nil
	}
	if !slices.ContainsFunc(events, func(e Event) bool { return e.K > 0 }) {
		number(events)
	}
	return events, 0, nil
}

// number gives events their numbers.
func number(events []Event) {
	k := 0
	for i := range events {
		f := events[i].Fields()
		if f.HasData || f.Type != nil || f.HasID || f.Retry != NotKnown || len(f.Ignored) > 0 {
			k++
			events[i].K = k
		}
	}
}
