package capture

import (
	"encoding/binary"
	"strings"

	"a2atap/proxy/grpc"
)

// IsGRPC reports whether a media type, as MediaType returns it, is one of gRPC.
func IsGRPC(mediaType string) bool {
	rest, ok := strings.CutPrefix(mediaType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+')
}

// IsMessage reports whether an event is a message of gRPC with its prefix, or the beginning of one, rather than a block of
// server-sent events. Its own bytes tell: no text has such a prefix.
func (e *Event) IsMessage() bool {
	if len(e.Raw) < grpc.PrefixSize || e.Raw[0] > 1 {
		return false
	}
	size, there := messageSize(e.Raw), int64(len(e.Raw)-grpc.PrefixSize)+e.Dropped
	return size == there || e.Unterminated && size > there
}

// GRPC returns the method of A2A that a request calls over gRPC, and whether it is such a request. What stands before
// the service in the path belongs to the interface.
func (h *Head) GRPC() (m grpc.Method, ok bool) {
	if h.Method != "POST" || !grpc.IsMedia(h.Fields.Get("Content-Type")) {
		return m, false
	}
	path, _, _ := strings.Cut(h.Target, "?")
	method := strings.LastIndexByte(path, '/')
	if method < 0 {
		return m, false
	}
	return grpc.MethodOf(path[max(strings.LastIndexByte(path[:method], '/'), 0):])
}

// GRPCMessage returns how the message in the body of such a request is read; nil if it is none.
func (h *Head) GRPCMessage() *grpc.Codec {
	m, ok := h.GRPC()
	if !ok {
		return nil
	}
	return &grpc.Codec{Type: m.Request, Encoding: h.Fields.Get("Grpc-Encoding")}
}

// GRPCAnswers returns how the messages are read that answer such a request; nil if they are none.
func GRPCAnswers(request, answer *Head) *grpc.Codec {
	m, ok := request.GRPC()
	if !ok || !grpc.IsMedia(answer.Fields.Get("Content-Type")) {
		return nil
	}
	return &grpc.Codec{Type: m.Answer, Encoding: answer.Fields.Get("Grpc-Encoding")}
}

// answers returns how the messages of the exchange's answer are read; nil if it is none of gRPC.
func (x *Exchange) answers() *grpc.Codec {
	request, answer := ParseRequestHead(x.Request.Head), ParseResponseHead(x.Response.Head)
	return GRPCAnswers(&request, &answer)
}

// ReadAsGRPC has the events of an answer read as messages of gRPC, if they are. Whoever makes an exchange otherwise than
// by Assemble calls it once it is whole.
func (x *Exchange) ReadAsGRPC() {
	if x.Response == nil {
		return
	}
	for i := range x.Response.Events {
		if e := &x.Response.Events[i]; e.IsMessage() {
			if e.As = x.answers(); e.As == nil {
				return
			}
		}
	}
}

// messageFields returns what a message of gRPC says as an event does: its JSON as data, if it can be read.
func messageFields(as *grpc.Codec, raw []byte) EventFields {
	f := EventFields{Retry: NotKnown}
	if r := as.Read(raw); r.Err == nil {
		f.Data, f.HasData, f.DataLines = r.Text, true, 1
	}
	return f
}

// messageSize returns how long the message is that a prefix stands before.
func messageSize(prefix []byte) int64 { return int64(binary.BigEndian.Uint32(prefix[1:])) }

// A MessageSplitter cuts the body of an answer of gRPC into events, each a message with its prefix. The Raw bytes of all, one
// after another, are the body, but for those that the limit dropped. The zero value is ready to use. It is for one body and
// one goroutine.
type MessageSplitter struct {
	Limit int // bytes of a message that are kept, its prefix included; 0 means DefaultBlockLimit

	k    int
	buf  []byte // what is kept of the message at hand
	size int64  // bytes of it that have come
	out  []Event
}

// Write takes the next bytes of the body and returns the messages that they complete, as Splitter.Write does.
func (s *MessageSplitter) Write(p []byte) []Event {
	s.out = s.out[:0]
	for len(p) > 0 {
		if missing := grpc.PrefixSize - s.size; missing > 0 {
			p = s.keep(p, missing)
		}
		if s.size < grpc.PrefixSize {
			break
		}
		whole := grpc.PrefixSize + messageSize(s.buf)
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
	room := max(0, max(limit, grpc.PrefixSize)-len(s.buf))
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

// Flush ends the body. It returns what is left as the last message, Unterminated, or nothing.
func (s *MessageSplitter) Flush() []Event {
	s.out = s.out[:0]
	if s.size > 0 {
		s.emit(true)
	}
	return s.out
}

// Fields says, as Splitter.Fields does, what the lines of an event are: a message has none.
func (s *MessageSplitter) Fields(int) *EventFields { return &EventFields{Retry: NotKnown} }
