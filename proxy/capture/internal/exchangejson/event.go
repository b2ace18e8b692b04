package exchangejson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
)

// An Event is a block of an event stream in JSON.
type Event struct {
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

// EventOf returns the JSON of an event, with its raw bytes.
func EventOf(e *capture.Event) Event {
	f := e.Fields()
	j := Event{K: e.K, OffsetMs: Milliseconds(e.At), Dropped: e.Dropped, Unterminated: e.Unterminated}
	str := func(b []byte) *string { return new(string(b)) }
	if f.HasData {
		j.Data = str(f.Data)
	}
	if f.Type != nil {
		j.Event = str(f.Type)
	}
	if f.HasID {
		j.ID = str(f.ID)
	}
	raw, encoding := Text(e.Raw)
	j.Raw, j.RawEncoding = &raw, encoding
	return j
}

// event is the other way. Without raw bytes it makes them of the fields.
func (j *Event) event() (capture.Event, error) {
	e := capture.Event{K: j.K, At: Duration(j.OffsetMs), Dropped: j.Dropped, Unterminated: j.Unterminated}
	if j.Raw == nil {
		e.Raw = j.PlainRaw()
		return e, nil
	}
	raw, err := Bytes(*j.Raw, j.RawEncoding)
	e.Raw = raw
	return e, err
}

// PlainRaw returns the plainest block that has these fields.
func (j *Event) PlainRaw() []byte {
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
func splitLines(s string) []string { return strings.Split(lineEnds.Replace(s), "\n") }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Events are the events of a stream in JSON.
type Events struct {
	Written []Event // to write

	present bool
	read    []capture.Event
	err     error // about the event after those
}

// IsZero reports whether there is no list.
func (l *Events) IsZero() bool { return l.Written == nil && !l.present }

// MarshalJSONTo writes the list.
func (l *Events) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, l.Written)
}

// UnmarshalJSONFrom reads the list, one event after another: a stream may have a million.
func (l *Events) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*l = Events{}
	present, err := Each(dec, func(j *Event) {
		if l.err == nil {
			var e capture.Event
			if e, l.err = j.event(); l.err == nil {
				l.read = append(l.read, e)
			}
		}
	})
	l.present = present
	return err
}

// Read returns the events that were read. Events without a number get the next one. At is the index of the one that is
// wrong.
func (l *Events) Read() (events []capture.Event, at int, err error) {
	if l.err != nil {
		return nil, len(l.read), l.err
	}
	if !slices.ContainsFunc(l.read, func(e capture.Event) bool { return e.K > 0 }) {
		NumberEvents(l.read)
	}
	return l.read, 0, nil
}

// Each reads a list and calls f with each of its values, valid during the call. It reports false if there is null.
func Each[T any](dec *jsontext.Decoder, f func(*T)) (bool, error) {
	switch dec.PeekKind() {
	case '[':
	case 'n':
		return false, dec.SkipValue()
	default:
		var list []T
		return false, json.UnmarshalDecode(dec, &list) // which says what is wrong
	}
	if _, err := dec.ReadToken(); err != nil {
		return true, err
	}
	for dec.PeekKind() != ']' {
		var v T
		if err := json.UnmarshalDecode(dec, &v); err != nil {
			return true, err
		}
		f(&v)
	}
	_, err := dec.ReadToken()
	return true, err
}

// NumberEvents gives events their numbers.
func NumberEvents(events []capture.Event) {
	k := 0
	for i := range events {
		f := events[i].Fields()
		if f.HasData || f.Type != nil || f.HasID || f.Retry != capture.NotKnown || len(f.Ignored) > 0 {
			k++
			events[i].K = k
		}
	}
}
