package recording

import (
	"bytes"
	"errors"
	"fmt"

	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
)

// A stream cuts an event stream into events, its content coding taken off first if it has one, or an answer of gRPC
// into messages.
type stream struct {
	split     splitter
	decoder   *capture.StreamDecoder // nil without a content coding
	failed    bool
	lost      int64 // bytes on the wire since the decoder failed and not yet counted
	expansion expansion
}

// A splitter cuts a body into events. What a call returns is valid until the next.
type splitter interface {
	Write(p []byte) []capture.Event
	Flush() []capture.Event
	Fields(i int) *capture.EventFields
}

// An expansion is what a coded stream has come to so far. A few kilobytes can claim to be gigabytes, or millions of
// events, all of which would be in memory at once: where that begins, decoding ends.
type expansion struct{ wire, decoded, events int64 }

// What a coded stream may come to: some for a start, and then so much for each byte on the wire. Events that are not coded
// have some eight bytes at least.
const (
	expansionBytes, expansionRatio = 16 << 20, 100
	expansionEvents, wirePerEvent  = 20_000, 8
)

var errExpansion = errors.New("it becomes too large when decoded")

func (s *expansion) excessive() bool {
	return s.decoded > expansionBytes+expansionRatio*s.wire || s.events > expansionEvents+s.wire/wirePerEvent
}

const streamType = "text/event-stream"

// mayStream tells quickly whether openStream could return a stream.
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

// around reports whether a place in a text stands between these words, in any case.
func around(text []byte, at int, before, after string) bool {
	from, to := at-len(before), at+len(after)
	return from >= 0 && to <= len(text) && bytes.EqualFold(text[from:at], []byte(before)) &&
		bytes.EqualFold(text[at:to], []byte(after))
}

// openStream returns a stream if the answer with this head is one, else nil. One in a coding that nobody here knows is
// recorded like any other body.
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

// write takes the next bytes and returns the blocks that they complete. The error is returned once; the bytes in which
// it happened, and what comes after them, are counted.
func (s *stream) write(p []byte) (events []event, err error) {
	switch {
	case s.decoder == nil:
		return s.read(nil, s.split.Write(p)), nil
	case s.failed:
		s.lost += int64(len(p))
		return nil, nil
	}
	s.expansion.wire += int64(len(p))
	if err = s.guarded(func() error { return s.decoder.Write(p, s.into(&events)) }); err != nil {
		s.lost += int64(len(p))
	}
	return events, err
}

// flush ends the stream and returns what was left of it. Where decoding has failed that is nothing: the block at hand
// was broken off by us, not by the agent.
func (s *stream) flush() (events []event) {
	if s.failed {
		return nil
	}
	if s.decoder != nil {
		// The exchange says if its stream broke off.
		_ = s.guarded(func() error { return s.decoder.Flush(s.into(&events)) })
	}
	return s.read(events, s.split.Flush())
}

// An event is a block of a stream, and what its lines say.
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

// into returns what takes decoded bytes and appends the events that they complete.
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

// guarded runs the decoder over bytes of the network: whatever they make of it must not end the recording.
func (s *stream) guarded(decode func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the decoder panicked: %v", p)
		}
		s.failed = err != nil
	}()
	return decode()
}

// stop lets no more of a stream be decoded.
func (s *stream) stop() { s.failed = s.failed || s.decoder != nil }

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
