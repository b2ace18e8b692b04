package capture

import (
	"strings"

	"a2atap/proxy/grpc"
)

// GRPC returns the A2A method of a gRPC request, and whether the request is one. The path before the service belongs to
// the interface. A request without a Content-Type is recognized by its path.
func (h *Head) GRPC() (m grpc.Method, ok bool) {
	if h.Method != "POST" || h.Fields.Has("Content-Type") && !grpc.IsMedia(h.Fields.Get("Content-Type")) {
		return m, false
	}
	path, _, _ := strings.Cut(h.Target, "?")
	method := strings.LastIndexByte(path, '/')
	if method < 0 {
		return m, false
	}
	return grpc.MethodOf(path[max(strings.LastIndexByte(path[:method], '/'), 0):])
}

// GRPCMessage returns the codec of the message in such a request's body; nil for other requests.
func (h *Head) GRPCMessage() *grpc.Codec {
	m, ok := h.GRPC()
	if !ok {
		return nil
	}
	return &grpc.Codec{Type: m.Request, Encoding: h.Fields.Get("Grpc-Encoding")}
}

// GRPCAnswers returns the codec of the answer messages to such a request, or nil for other answers.
func GRPCAnswers(request, answer *Head) *grpc.Codec {
	m, ok := request.GRPC()
	if !ok || !grpc.IsMedia(answer.Fields.Get("Content-Type")) {
		return nil
	}
	return &grpc.Codec{Type: m.Answer, Encoding: answer.Fields.Get("Grpc-Encoding")}
}

// answers returns the codec of the messages in the exchange's answer; nil unless it is gRPC.
func (x *Exchange) answers() *grpc.Codec {
	request, answer := ParseRequestHead(x.Request.Head), ParseResponseHead(x.Response.Head)
	return GRPCAnswers(&request, &answer)
}

// ReadAsGRPC marks the events of an answer as gRPC messages, if they are. Call it on a complete exchange that Assemble
// did not make.
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

// ReadEvent marks a step's answer event as a gRPC message, if it is one.
func (x *Exchange) ReadEvent(e *Event) {
	if e.As == nil && x.Response != nil && e.IsMessage() {
		e.As = x.answers()
	}
}

// messageFields returns the content of a gRPC message in the form of event fields: its JSON as data, if it can be
// decoded.
func messageFields(as *grpc.Codec, raw []byte) EventFields {
	f := EventFields{Retry: NotKnown}
	if r := as.Read(raw); r.Err == nil {
		f.Data, f.HasData, f.DataLines = r.Text, true, 1
	}
	return f
}

// Streams reports whether the answer is a stream: server-sent events, or what answers a method of gRPC with any number
// of messages.
func (x *Exchange) Streams() bool {
	if x.Response == nil || !x.Response.Stream {
		return false
	}
	head := ParseRequestHead(x.Request.Head)
	m, ok := head.GRPC()
	return !ok || m.Streams
}

// InMessages reports whether the events of the answer are gRPC messages, and their type, or "" if unknown.
func (x *Exchange) InMessages() (of string, is bool) {
	if x.Response == nil || !x.Response.Stream {
		return "", false
	}
	answer := ParseResponseHead(x.Response.Head)
	if !IsGRPC(answer.Fields.MediaType()) {
		return "", false
	}
	request := ParseRequestHead(x.Request.Head)
	if as := GRPCAnswers(&request, &answer); as != nil && as.Type != nil {
		of = as.Type.Name()
	}
	return of, true
}

// GRPCStatus returns the status of a gRPC call, and whether its answer has one.
func (r *Response) GRPCStatus() (grpc.Status, bool) {
	trailer, _ := ParseFields(r.Trailer)
	head := ParseResponseHead(r.Head)
	return GRPCStatusIn(trailer, head.Fields, 0)
}

// GRPCStatusIn returns the status of an answered gRPC call, given the trailer and the fields of the head. The head has
// the status if the answer has no messages.
//
// Source: gRPC over HTTP2, "Trailers-Only".
func GRPCStatusIn(trailer, head Fields, messages int) (grpc.Status, bool) {
	return grpc.StatusOf(func(name string) string {
		from := head
		if trailer.Has(name) || messages > 0 {
			from = trailer
		}
		if name == grpc.StatusField {
			return strings.Join(from.Values(name), ",")
		}
		return from.Get(name)
	})
}
