package capture

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// scanHAR finds the entries of a HAR and hands out the bytes of each, valid during the call, and where they stand. It
// ends early, without an error, when yield returns false.
func scanHAR(r io.Reader, yield func(entry []byte, offset int64) bool) error {
	dec := jsontext.NewDecoder(r, lenient)
	found, err := scanEntries(dec, yield)
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if !found {
			return fmt.Errorf("%w: no HAR: byte %d: %w", ErrFormat, dec.InputOffset(), err)
		}
		return fmt.Errorf("read har: byte %d: %w", dec.InputOffset(), err)
	}
	if !found {
		return fmt.Errorf("%w: no HAR: there is no list log.entries", ErrFormat)
	}
	return nil
}

// scanEntries reads the document down to log.entries and each entry there. It says whether it found the list.
func scanEntries(dec *jsontext.Decoder, yield func([]byte, int64) bool) (found bool, err error) {
	err = eachMember(dec, func(name string) error {
		if name != "log" {
			return dec.SkipValue()
		}
		return eachMember(dec, func(name string) error {
			if name != "entries" || dec.PeekKind() != '[' {
				return dec.SkipValue()
			}
			found = true
			if _, err := dec.ReadToken(); err != nil {
				return err
			}
			for dec.PeekKind() != ']' {
				v, err := dec.ReadValue()
				if err != nil {
					return err
				}
				if !yield(v, dec.InputOffset()-int64(len(v))) {
					return errStopped
				}
			}
			_, err := dec.ReadToken()
			return err
		})
	})
	return found, err
}

// eachMember reads an object and calls visit where the value of each member begins.
func eachMember(dec *jsontext.Decoder, visit func(name string) error) error {
	begin, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if begin.Kind() != '{' {
		return fmt.Errorf("want an object, got %q", begin.Kind())
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := visit(name.String()); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}

// harIndex is what the order of entries depends on.
type harIndex struct {
	Started string `json:"startedDateTime"`
	Extra   struct {
		N uint64 `json:"n"`
	} `json:"_a2atap"`
}

// harPlace reads an entry's number, 0 if it has none, and its start, zero if it does not say.
func harPlace(raw []byte) (n uint64, started time.Time, err error) {
	var i harIndex
	if err := json.Unmarshal(raw, &i, lenient); err != nil {
		return 0, time.Time{}, jsonError(err)
	}
	if i.Started != "" {
		if started, err = parseHARTime(i.Started); err != nil {
			return 0, time.Time{}, fmt.Errorf("startedDateTime: %w", err)
		}
	}
	return i.Extra.N, started, nil
}

// jsonError says where in a value JSON could not be read, without the words of the library.
func jsonError(err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		what := fmt.Sprintf("a %s is not what stands there", semantic.JSONKind)
		if semantic.Err != nil {
			what = semantic.Err.Error()
		}
		return fmt.Errorf("%s: %s", fieldName(semantic.JSONPointer), what)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Errorf("%s: byte %d: %w", fieldName(syntactic.JSONPointer), syntactic.ByteOffset, syntactic.Err)
	}
	return err
}

// fieldName writes a JSON Pointer as people name fields: response.headers[3].name.
func fieldName(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if len(token) > 0 && token[0] >= '0' && token[0] <= '9' {
			fmt.Fprintf(&b, "[%s]", token)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	if b.Len() == 0 {
		return "the entry"
	}
	return b.String()
}

// readHAREntry reads an entry. Its number and its start are those that the file's order gave it.
func readHAREntry(raw []byte, seq uint64, started time.Time) (*Exchange, error) {
	var e harEntry
	if err := json.Unmarshal(raw, &e, lenient); err != nil {
		return nil, jsonError(err)
	}
	x := &Exchange{Seq: seq, Started: started}
	if err := e.readRequest(x); err != nil {
		return nil, err
	}
	if err := e.readResponse(x); err != nil {
		return nil, err
	}
	if e.Extra == nil {
		e.guess(x)
		return x, nil
	}
	return x, e.Extra.applyExchange(x)
}

// readRequest reads the request's head and what text there is of its body.
func (e *harEntry) readRequest(x *Exchange) error {
	r := &x.Request
	r.Head = e.Request.requestHead()
	h := ParseRequestHead(r.Head)
	r.Body = Body{Size: NotKnown, At: NotKnown, Complete: true}
	if post := e.Request.PostData; post != nil && post.Text != nil {
		data, err := bytesOf(*post.Text, post.Encoding)
		if err != nil {
			return fmt.Errorf("request.postData.text: %w", err)
		}
		r.Body.Data = data
	} else if e.Request.empty() {
		r.Body.Data = []byte{}
	}
	r.Body.Decoded = r.Body.Data != nil && len(h.Fields.Codings()) > 0
	return nil
}

// empty reports whether a request without text had an empty body, as far as one can tell.
func (r *harRequest) empty() bool {
	if r.PostData != nil || r.BodySize == nil {
		return r.PostData == nil
	}
	switch r.Method {
	case "GET", "HEAD", "OPTIONS":
		return *r.BodySize <= 0
	}
	return *r.BodySize == 0
}

// readResponse reads the response's head and what there is of its body.
func (e *harEntry) readResponse(x *Exchange) error {
	if e.Response.Status == 0 && (e.Extra == nil || e.Extra.Response == nil) {
		return nil
	}
	if s := e.Response.Status; s < 0 || s > 999 || s != math.Trunc(s) {
		return fmt.Errorf("response.status: %v is no status", s)
	}
	r := &Response{Head: e.Response.responseHead(), At: NotKnown}
	r.Body = Body{Size: NotKnown, At: NotKnown, Complete: true}
	x.Response = r
	h := ParseResponseHead(r.Head)
	r.Stream = isStream(&h) || e.EventStream != nil || e.Messages != nil
	if m := e.extraResponse(); m != nil && m.Stream != nil {
		r.Stream = *m.Stream
	}
	var data []byte
	if c := &e.Response.Content; c.Text != nil {
		var err error
		if data, err = bytesOf(*c.Text, strings.ToLower(c.Encoding)); err != nil {
			return fmt.Errorf("response.content.text: %w", err)
		}
	} else if e.emptyContent(&h) {
		data = []byte{}
	}
	if r.Stream {
		return e.readEvents(x, data)
	}
	r.Body.Data = data
	r.Body.Decoded = data != nil && len(h.Fields.Codings()) > 0
	return nil
}

func (e *harEntry) extraResponse() *extraMessage {
	if e.Extra == nil {
		return nil
	}
	return e.Extra.Response
}

// emptyContent reports whether a response without text had an empty body. Writers say size 0 of bodies that they did not
// keep, too, so something else has to say the same.
func (e *harEntry) emptyContent(h *Head) bool {
	size, wire := e.Response.Content.Size, e.Response.BodySize
	if size == nil || *size != 0 {
		return false
	}
	switch h.Status {
	case 204, 205, 304:
		return true
	}
	return e.Request.Method == "HEAD" || wire == nil || *wire == 0 || h.Fields.Get("Content-Length") == "0"
}

// readEvents reads the events of a stream: as they were recorded, else cut from the text, else as Chrome keeps them.
func (e *harEntry) readEvents(x *Exchange, text []byte) error {
	r := x.Response
	if e.EventStream != nil {
		events, at, err := eventsOf(e.EventStream)
		if err != nil {
			return fmt.Errorf("_eventStream[%d].raw: %w", at, err)
		}
		r.Events = events
		return nil
	}
	if text != nil {
		r.Events = cutText(text)
	}
	e.chromeEvents(x, text == nil)
	return nil
}

// cutText cuts the text of a stream into events without times.
func cutText(text []byte) []Event {
	var s Splitter
	var events []Event
	events = append(events, s.Write(text)...)
	return append(events, s.Flush()...)
}

// chromeEvents takes the times of events, and the events themselves if there is no text, from _eventSourceMessages.
func (e *harEntry) chromeEvents(x *Exchange, make bool) {
	r := x.Response
	if make {
		for _, m := range e.Messages {
			j := eventJSON{Data: &m.Data}
			if m.Event != "" && m.Event != "message" {
				j.Event = &m.Event
			}
			if m.ID != "" {
				j.ID = &m.ID
			}
			r.Events = append(r.Events, Event{At: NotKnown, Raw: j.plainRaw()})
		}
		number(r.Events)
	}
	var dispatched []*Event
	for i := range r.Events {
		if f := r.Events[i].Fields(); f.HasData && !r.Events[i].Unterminated {
			dispatched = append(dispatched, &r.Events[i])
		}
	}
	if len(dispatched) != len(e.Messages) {
		return
	}
	for i, event := range dispatched {
		seconds, fraction := math.Modf(e.Messages[i].Time)
		at := time.Unix(int64(seconds), int64(fraction*1e9)).Sub(x.Started)
		if at >= 0 && at < 24*time.Hour {
			event.At = at
		}
	}
}

// applyExchange puts what was recorded of an exchange into it.
func (m *extra) applyExchange(x *Exchange) error {
	id, err := uuid.Parse(m.ID)
	if err != nil && m.ID != "" {
		return fmt.Errorf("_a2atap.id: %w", err)
	}
	x.ID, x.Conn, x.Client, x.Agent = id, m.Conn, m.Client.peer(), m.Agent.peer()
	x.State = StateClosed
	if m.State != "" {
		if x.State, err = parseState(m.State); err != nil {
			return fmt.Errorf("_a2atap.state: %w", err)
		}
	}
	x.Ended, x.Fault = duration(m.EndedMs), (*Fault)(m.Fault)
	x.Rewrites, x.Replayed = rewritesOf(m.Rewrites), m.Replayed
	m.applyMessages(x)
	return nil
}

// applyMessages puts what was recorded of the messages into them.
func (m *extra) applyMessages(x *Exchange) {
	x.Notes, x.Lost = m.Notes, m.Lost
	if r := m.Request; r != nil {
		x.Request.Head = r.apply(x.Request.Head, &x.Request.Body, &x.Request.Trailer, false)
	}
	if r := m.Response; r != nil && x.Response != nil {
		r.applyResponse(x.Response)
	}
}
