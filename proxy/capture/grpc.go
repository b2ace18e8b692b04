package capture

import (
	"encoding/binary"
	"strings"
)

// messagePrefix is the size of the prefix of each gRPC message: a flag, 1 if the message is compressed, and its length.
//
// Source: the gRPC specification, "gRPC over HTTP2", Length-Prefixed-Message.
const messagePrefix = 5

// IsGRPC reports whether a media type, as returned by MediaType, is a gRPC type.
func IsGRPC(mediaType string) bool {
	rest, ok := strings.CutPrefix(mediaType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+')
}

// IsMessage reports whether an event is a gRPC message with its prefix, or the beginning of one, rather than a block of
// server-sent events. It decides by the bytes: no text begins like the prefix of a message of less than 128 MiB.
func (e *Event) IsMessage() bool {
	if len(e.Raw) < messagePrefix || e.Raw[0] > 1 {
		return false
	}
	size, there := messageSize(e.Raw), int64(len(e.Raw)-messagePrefix)+e.Dropped
	return size == there || e.Unterminated && size > there && size < 1<<27
}

// messageSize returns the length in a message's prefix.
func messageSize(prefix []byte) int64 { return int64(binary.BigEndian.Uint32(prefix[1:])) }

// A MessageSplitter cuts the body of a gRPC answer into events, each a message with its prefix. The Raw bytes of all
// events, concatenated, are the body, except for bytes beyond the limit. The zero value is ready to use. It is for one
// body and one goroutine.
type MessageSplitter struct {
	Limit int // maximum bytes of a message to keep, including its prefix; 0 means DefaultBlockLimit

	k    int
	buf  []byte // what is kept of the message at hand
	size int64  // bytes of it that have come
	out  []Event
}

// Write takes the next bytes of the body and returns the messages that they complete, as Splitter.Write does.
func (s *MessageSplitter) Write(p []byte) []Event {
	s.out = s.out[:0]
	for len(p) > 0 {
		if missing := messagePrefix - s.size; missing > 0 {
			p = s.keep(p, missing)
		}
		if s.size < messagePrefix {
			break
		}
		whole := messagePrefix + messageSize(s.buf)
		p = s.keep(p, whole-s.size)
		if s.size == whole {
			s.emit(false)
		}
	}
	return s.out
}

// keep takes up to n bytes for the message at hand, and returns the rest.
func (s *MessageSplitter) keep(p []byte, n int64) (rest []byte) {
	limit := s.Limit
	if limit <= 0 {
		limit = DefaultBlockLimit
	}
	n = min(n, int64(len(p)))
	room := max(0, max(limit, messagePrefix)-len(s.buf))
	s.buf = append(s.buf, p[:min(n, int64(room))]...)
	s.size += n
	return p[n:]
}

// emit hands the message at hand out and begins the next one.
func (s *MessageSplitter) emit(unterminated bool) {
	s.k++
	s.out = append(s.out, Event{
		K: s.k, At: NotKnown, Raw: s.buf, Dropped: s.size - int64(len(s.buf)), Unterminated: unterminated,
	})
	s.buf, s.size = nil, 0
}

// Flush ends the body. It returns the rest as the last message, Unterminated, or nothing.
func (s *MessageSplitter) Flush() []Event {
	s.out = s.out[:0]
	if s.size > 0 {
		s.emit(true)
	}
	return s.out
}

// Fields returns the line fields of an event, as Splitter.Fields does; a message has none.
func (s *MessageSplitter) Fields(int) *EventFields { return &EventFields{Retry: NotKnown} }
