package proxy

import (
	"fmt"
	"slices"

	"a2atap/proxy/capture"
)

// A stream cuts an event stream into events, its content coding taken off first if it has one.
type stream struct {
	split   capture.Splitter
	decoder *capture.StreamDecoder // nil without a content coding
	failed  bool
	lost    int64 // bytes on the wire since the decoder failed and not yet told
}

// openStream returns a stream if the answer with this head is one, else nil. One in a coding that nobody here knows is
// recorded like any other body.
func openStream(head []byte, limit int) *stream {
	if capture.MediaType(string(fieldValue(head, "Content-Type"))) != "text/event-stream" {
		return nil
	}
	h := capture.ParseResponseHead(head)
	s := &stream{split: capture.Splitter{Limit: limit}}
	if codings := h.Fields.Codings(); len(codings) > 0 {
		decoder, err := capture.NewStreamDecoder(codings)
		if err != nil {
			return nil
		}
		s.decoder = decoder
	}
	return s
}

// write takes the next bytes and returns the blocks that they complete. The error is told once; what comes after it is
// counted.
func (s *stream) write(p []byte) (events []capture.Event, err error) {
	switch {
	case s.decoder == nil:
		return s.split.Write(p), nil
	case s.failed:
		s.lost += int64(len(p))
		return nil, nil
	}
	err = s.guarded(func() error {
		return s.decoder.Write(p, func(decoded []byte) {
			events = append(events, s.split.Write(decoded)...)
		})
	})
	return events, err
}

// flush ends the stream and returns what was left of it.
func (s *stream) flush() (events []capture.Event) {
	if s.decoder != nil && !s.failed {
		_ = s.guarded(func() error { // a stream that broke off is told by its exchange
			return s.decoder.Flush(func(decoded []byte) {
				events = append(events, s.split.Write(decoded)...)
			})
		})
	}
	return slices.Concat(events, s.split.Flush())
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
