package har

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/internal/exchangejson"
)

// errStopped ends a scan whose yield returned false.
var errStopped = errors.New("the scan was stopped")

// Scan finds the entries of a HAR and passes each one's bytes, valid during the call, and their offset to yield. It
// ends early, without an error, when yield returns false. It adds to gaps what the log reports as missing from the
// capture.
func Scan(r io.Reader, gaps *capture.Gaps, yield func(entry []byte, offset int64) bool) error {
	limit := exchangejson.NewLimit(r)
	dec := jsontext.NewDecoder(limit, exchangejson.Lenient)
	found, err := scanEntries(dec, gaps, func(entry []byte, offset int64) bool {
		limit.Next()
		return yield(entry, offset)
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if !found {
			return fmt.Errorf("%w: not a HAR: byte %d: %w", capture.ErrFormat, dec.InputOffset(), err)
		}
		return fmt.Errorf("read har: byte %d: %w", dec.InputOffset(), err)
	}
	if !found {
		return fmt.Errorf("%w: not a HAR: it has no list log.entries", capture.ErrFormat)
	}
	return nil
}

// scanEntries reads the document down to log.entries and each entry there. It says whether it found the list.
func scanEntries(dec *jsontext.Decoder, gaps *capture.Gaps, yield func([]byte, int64) bool) (found bool, err error) {
	err = eachMember(dec, func(name string) error {
		if name != "log" {
			return dec.SkipValue()
		}
		return eachMember(dec, func(name string) error {
			if name == "_a2atap" {
				return readGaps(dec, gaps)
			}
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

// readGaps reads what an a2atap log holds in addition to HAR, and adds it to gaps.
func readGaps(dec *jsontext.Decoder, gaps *capture.Gaps) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	var said extension
	if err := json.Unmarshal(v, &said, exchangejson.Lenient); err != nil {
		return fmt.Errorf("log._a2atap: %w", exchangejson.Explain(err))
	}
	if said.Gaps == nil {
		return nil
	}
	found, err := said.Gaps.Gaps()
	if err != nil {
		return fmt.Errorf("log._a2atap.gaps: %w", err)
	}
	gaps.Add(found)
	return nil
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

// index is what the order of entries depends on.
type index struct {
	Started string `json:"startedDateTime"`
	Extra   struct {
		N uint64 `json:"n"`
	} `json:"_a2atap"`
}

// Place reads an entry's number, 0 if it has none, and its start, zero if it does not say.
func Place(raw []byte) (n uint64, started time.Time, err error) {
	var i index
	if err := json.Unmarshal(raw, &i, exchangejson.Lenient); err != nil {
		return 0, time.Time{}, exchangejson.Explain(err)
	}
	if i.Started != "" {
		if started, err = exchangejson.ParseTime(i.Started); err != nil {
			return 0, time.Time{}, fmt.Errorf("startedDateTime: %w", err)
		}
	}
	return i.Extra.N, started, nil
}

// Read reads an entry. Its number and its start are those that the file's order gave it.
func Read(raw []byte, seq uint64, started time.Time) (*capture.Exchange, error) {
	var e entry
	if err := json.Unmarshal(raw, &e, exchangejson.Lenient); err != nil {
		return nil, exchangejson.Explain(err)
	}
	x := &capture.Exchange{Seq: seq, Started: started}
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
	return x, applyExtra(e.Extra, x)
}

// readRequest reads the request's head and what text there is of its body.
func (e *entry) readRequest(x *capture.Exchange) error {
	r := &x.Request
	r.Head = e.Request.requestHead()
	h := capture.ParseRequestHead(r.Head)
	r.Body = capture.Body{Size: capture.NotKnown, At: capture.NotKnown, Complete: true}
	if post := e.Request.PostData; post != nil && post.Text != nil {
		data, err := exchangejson.Bytes(*post.Text, post.Encoding)
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
func (r *request) empty() bool {
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
func (e *entry) readResponse(x *capture.Exchange) error {
	if e.Response.Status == 0 && (e.Extra == nil || e.Extra.Response == nil) {
		return nil
	}
	if s := e.Response.Status; s < 0 || s > 999 || s != math.Trunc(s) {
		return fmt.Errorf("response.status: %v is not a status", s)
	}
	r := &capture.Response{Head: e.Response.responseHead(), At: capture.NotKnown}
	r.Body = capture.Body{Size: capture.NotKnown, At: capture.NotKnown, Complete: true}
	x.Response = r
	h := capture.ParseResponseHead(r.Head)
	r.Stream = exchangejson.IsStream(&h) || !e.EventStream.IsZero() || !e.Messages.IsZero()
	if m := e.extraResponse(); m != nil && m.Stream != nil {
		r.Stream = *m.Stream
	}
	var data []byte
	if c := &e.Response.Content; c.Text != nil {
		var err error
		if data, err = exchangejson.Bytes(*c.Text, strings.ToLower(c.Encoding)); err != nil {
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

func (e *entry) extraResponse() *exchangejson.ExtraMessage {
	if e.Extra == nil {
		return nil
	}
	return e.Extra.Response
}

// emptyContent reports whether a response without text had an empty body. Writers say size 0 of bodies that they did
// not keep, too, so something else has to say the same.
func (e *entry) emptyContent(h *capture.Head) bool {
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
func (e *entry) readEvents(x *capture.Exchange, text []byte) error {
	r := x.Response
	if !e.EventStream.IsZero() {
		events, at, err := e.EventStream.Read()
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
func cutText(text []byte) []capture.Event {
	n := 0
	cutPieces(text, func(events []capture.Event) { n += len(events) })
	all := make([]capture.Event, 0, n) // growing it would take several times as much memory
	cutPieces(text, func(events []capture.Event) { all = append(all, events...) })
	return all
}

// cutPieces cuts a text piece by piece: a Splitter keeps more about the events of one write than the events.
func cutPieces(text []byte, f func([]capture.Event)) {
	var s capture.Splitter
	for piece := range slices.Chunk(text, 64<<10) {
		f(s.Write(piece))
	}
	f(s.Flush())
}

// chromeEvents are server-sent events as Chrome keeps them.
type chromeEvents struct {
	present bool
	times   []float64
	events  []capture.Event
}

// IsZero reports whether there is no list.
func (l *chromeEvents) IsZero() bool { return !l.present }

// UnmarshalJSONFrom reads the list, one event after another: a stream may have a million.
func (l *chromeEvents) UnmarshalJSONFrom(dec *jsontext.Decoder) (err error) {
	*l = chromeEvents{}
	l.present, err = exchangejson.Each(dec, func(m *chromeEvent) {
		j := exchangejson.Event{Data: &m.Data}
		if m.Event != "" && m.Event != "message" {
			j.Event = &m.Event
		}
		if m.ID != "" {
			j.ID = &m.ID
		}
		l.times = append(l.times, m.Time)
		l.events = append(l.events, capture.Event{At: capture.NotKnown, Raw: j.PlainRaw()})
	})
	return err
}

// chromeEvents takes the times of events, and the events themselves if there is no text, from _eventSourceMessages.
func (e *entry) chromeEvents(x *capture.Exchange, make bool) {
	r := x.Response
	if make {
		r.Events = e.Messages.events
		exchangejson.NumberEvents(r.Events)
	}
	var dispatched []int32
	for i := range r.Events {
		if f := r.Events[i].Fields(); f.HasData && !r.Events[i].Unterminated {
			dispatched = append(dispatched, int32(i))
		}
	}
	if len(dispatched) != len(e.Messages.times) {
		return
	}
	for i, at := range dispatched {
		event := &r.Events[at]
		seconds, fraction := math.Modf(e.Messages.times[i])
		at := time.Unix(int64(seconds), int64(fraction*1e9)).Sub(x.Started)
		if at >= 0 && at < 24*time.Hour {
			event.At = at
		}
	}
}

// applyExtra puts what was recorded of an exchange into it.
func applyExtra(m *exchangejson.Extra, x *capture.Exchange) error {
	id, err := uuid.Parse(m.ID)
	if err != nil && m.ID != "" {
		return fmt.Errorf("_a2atap.id: %w", err)
	}
	x.ID, x.Conn, x.Stream = id, m.Conn, m.Stream
	x.Client, x.Agent = *cmp.Or(m.Client, &capture.Peer{}), *cmp.Or(m.Agent, &capture.Peer{})
	x.State = capture.StateClosed
	if m.State != "" {
		if x.State, err = capture.ParseState(m.State); err != nil {
			return fmt.Errorf("_a2atap.state: %w", err)
		}
	}
	x.Ended, x.Fault, x.Rewrites, x.Replayed = exchangejson.Duration(m.EndedMs), m.Fault, m.Rewrites, m.Replayed
	m.ApplyMessages(x)
	return nil
}
