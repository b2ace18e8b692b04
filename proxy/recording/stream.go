package recording

import (
	"bytes"
	"errors"
	"fmt"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
)

// A stream splits an event stream into events, after removing any content coding, or a gRPC answer into messages.
type stream struct {
	split     splitter
	decoder   *capture.StreamDecoder // nil without a content coding
	failed    bool
	hurried   bool  // there is no time left for very many events
	lost      int64 // bytes on the wire since the stream failed and not yet counted
	expansion expansion
}

// A splitter splits a body into events. The result of a call is valid until the next call.
type splitter interface {
	Write(p []byte) []capture.Event
	Flush() []capture.Event
	Fields(i int) *capture.EventFields
}

// An expansion has the sizes of a compressed stream so far. A few kilobytes can expand to gigabytes, or millions of
// events, all in memory at once: decoding stops before that.
type expansion struct{ wire, decoded, events int64 }

// Bounds of a compressed stream: a fixed amount, plus an amount for each byte on the wire. Uncompressed events have at
// least about eight bytes.
const (
	expansionBytes, expansionRatio = 16 << 20, 100
	expansionEvents, wirePerEvent  = 20_000, 8
)

var errExpansion = errors.New("it is too large after decoding")

func (s *expansion) excessive() bool {
	return s.decoded > expansionBytes+expansionRatio*s.wire || s.events > expansionEvents+s.wire/wirePerEvent
}

const streamType = "text/event-stream"

// mayStream quickly decides whether openStream could return a stream.
func mayStream(head []byte) bool {
	for rest := head; ; {
		slash := bytes.IndexByte(rest, '/')
		if slash < 0 {
			return false
		}
		if around(rest, slash, "text", "/event-stream") || around(rest, slash, "application", "/grpc") {
			return true
		}
		rest = rest[slash+1:]
	}
}

// around reports whether a place in a text is between these words, case-insensitively.
func around(text []byte, at int, before, after string) bool {
	from, to := at-len(before), at+len(after)
	return from >= 0 && to <= len(text) && bytes.EqualFold(text[from:at], []byte(before)) &&
		bytes.EqualFold(text[at:to], []byte(after))
}

// openStream returns a stream if the answer with this head is a stream, otherwise nil. A stream with an unknown content
// coding is recorded like any other body.
func openStream(head []byte, limit int) *stream {
	switch kind := capture.MediaType(string(rawhead.Value(head, "Content-Type"))); {
	case capture.IsGRPC(kind):
		return &stream{split: &capture.MessageSplitter{Limit: limit}}
	case kind != streamType:
		return nil
	}
	h := capture.ParseResponseHead(head)
	s := &stream{split: &capture.Splitter{Limit: limit}}
	if codings := h.Fields.Codings(); len(codings) > 0 {
		decoder, err := capture.NewStreamDecoder(codings)
		if err != nil {
			return nil
		}
		s.decoder = decoder
	}
	return s
}

// write adds the next bytes and returns the blocks that they complete. The error is returned once; the bytes that
// caused it, and all later bytes, are counted.
func (s *stream) write(p []byte) (events []event, err error) {
	switch {
	case s.failed:
		s.lost += int64(len(p))
		return nil, nil
	case s.decoder == nil:
		found := s.split.Write(p)
		if s.hurried && len(found)*budget.EndEvent > len(p)+budget.EndFreeBytes {
			s.failed, s.lost = true, int64(len(p))
			return nil, nil
		}
		return s.read(nil, found), nil
	}
	s.expansion.wire += int64(len(p))
	if err = s.guarded(func() error { return s.decoder.Write(p, s.into(&events)) }); err != nil {
		s.lost += int64(len(p))
	}
	return events, err
}

// flush ends the stream and returns the rest. It returns nothing if decoding has failed: a2atap, not the agent, cut the
// current block.
func (s *stream) flush() (events []event) {
	if s.failed {
		return nil
	}
	if s.decoder != nil {
		// The exchange records whether its stream was cut.
		_ = s.guarded(func() error { return s.decoder.Flush(s.into(&events)) })
	}
	return s.read(events, s.split.Flush())
}

// An event is a block of a stream, with its parsed lines.
type event struct {
	capture.Event
	fields *capture.EventFields
}

// read appends the blocks that the splitter has just found to events.
func (s *stream) read(events []event, found []capture.Event) []event {
	for i := range found {
		events = append(events, event{found[i], s.split.Fields(i)})
	}
	return events
}

// into returns a function that receives decoded bytes and appends the events that they complete.
func (s *stream) into(events *[]event) func(decoded []byte) {
	return func(decoded []byte) {
		found := s.split.Write(decoded)
		*events = s.read(*events, found)
		s.expansion.decoded += int64(len(decoded))
		s.expansion.events += int64(len(found))
		if s.expansion.excessive() {
			s.decoder.Fail(errExpansion)
		}
	}
}

// guarded runs the decoder over untrusted bytes: a panic must not end the recording.
func (s *stream) guarded(decode func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the decoder panicked: %v", p)
		}
		s.failed = err != nil
	}()
	return decode()
}

// hurry lets no more of a stream be decoded, and ends it at very many events.
func (s *stream) hurry() { s.failed, s.hurried = s.failed || s.decoder != nil, true }

// undecoded returns how many bytes were not decoded since it was last asked.
func (s *stream) undecoded() int64 {
	n := s.lost
	s.lost = 0
	return n
}

func (s *stream) close() {
	if s.decoder != nil {
		s.decoder.Close()
	}
}
