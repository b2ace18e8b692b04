package playback

import (
	"net/http"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/replay/compare"
)

// messages gives the answer over gRPC: each object as a message at its time, and the call's outcome in the trailer.
//
// Source: gRPC over HTTP2, "Responses".
func (a *responder) messages(head *capture.Head) {
	res := a.exchange.x.Response
	if !res.Stream {
		a.message(head)
		return
	}
	a.head(head)
	a.w.WriteHeader(http.StatusOK)
	if !head.Fields.Has(grpc.StatusField) { // else nothing follows
		a.flush()
	}
	before, given := res.At, 0
	for i := range res.Events {
		e := &res.Events[i]
		if !a.pause(e.At - before) {
			return
		}
		before = e.At
		frame, refused := a.frame(e)
		if refused != nil {
			refused.outcome(&a.call).write(a.trailer)
			return
		}
		if frame == nil {
			continue
		}
		if _, err := a.w.Write(frame); err != nil {
			return
		}
		a.flush()
		given++
		if limit := a.p.opts.BreakAfter; limit > 0 && given >= limit && a.exchange.x.Streams() {
			a.cut(given)
		}
	}
	a.endStream()
	a.trailers()
}

// trailers writes the recorded outcome of the call. It is OK if the recorded client left after receiving everything, or
// if another binding was recorded.
func (a *responder) trailers() {
	x := a.exchange.x
	if a.converts() || x.Fault != nil || x.State != capture.StateClosed {
		(&outcome{}).write(a.trailer)
		return
	}
	fields, _ := capture.ParseFields(x.Response.Trailer)
	for _, f := range fields {
		a.trailer(f.Name, f.Value)
	}
}

// trailer sets a field of the trailer.
func (a *responder) trailer(name, value string) { a.w.Header().Add(http.TrailerPrefix+name, value) }

// frame returns an event as a message, nil if it has none, or the event's refusal.
func (a *responder) frame(e *capture.Event) ([]byte, *refusal) {
	fields := e.Fields()
	if !fields.HasData {
		if a.converts() {
			return nil, nil
		}
		return e.Raw, nil // which cannot be read here
	}
	data := compare.RewriteJSON(fields.Data, &a.exchange.call, a.substitute)
	answer := a2a.DecodeEvent(&a.exchange.call, data)
	if !a.converts() {
		data = a.p.offering(a.exchange, &answer, data, a.r)
		if string(data) == string(fields.Data) {
			return e.Raw, nil
		}
		frame, refused := a.say(data)
		if refused != nil {
			return e.Raw, nil // of another form than its definition
		}
		return frame, nil
	}
	if answer.Err != nil {
		return nil, refusalOf(answer.Err)
	}
	return a.say(a.object(&answer, data))
}

// message gives an answer of another binding that is not a stream.
func (a *responder) message(head *capture.Head) {
	body, _ := a.exchange.x.Response.Body.Decode(head) // what could be decoded is what there is to give
	body = compare.RewriteJSON(body, &a.exchange.call, a.substitute)
	answer := a2a.DecodeAnswer(&a.exchange.call, head.Status, head.Fields.MediaType(), body)
	a.head(head)
	frame, refused := []byte(nil), (*refusal)(nil)
	if answer.Err != nil {
		refused = refusalOf(answer.Err)
	} else {
		frame, refused = a.say(a.object(&answer, a.p.offering(a.exchange, &answer, body, a.r)))
	}
	if refused != nil {
		a.refuse(refused)
		return
	}
	a.w.WriteHeader(http.StatusOK)
	a.w.Write(frame) //nolint:errcheck // the client has left
	a.broken()
	a.trailers()
}

// say returns an object as a message of the called method.
func (a *responder) say(object []byte) ([]byte, *refusal) {
	codec := grpc.Codec{Type: a.call.RPC.Answer}
	if len(object) == 0 || string(object) == "null" {
		object = []byte("{}")
	}
	frame, err := codec.Write(a2a.Parse(object).Root)
	if err != nil {
		a.p.notice("the answer of exchange %d cannot be expressed over gRPC: %v", a.exchange.seq, err)
		return nil, &refusal{
			name: a2a.InternalError, message: "playback: the recorded answer cannot be expressed over gRPC: " + err.Error(),
		}
	}
	return frame, nil
}

// first returns the one message of a recorded gRPC answer for a request in another binding, or the call's error.
func (a *recorded) first() (body []byte, failed *a2a.Error) {
	if status, ok := a.x.Response.GRPCStatus(); ok && status.Code != grpc.OK {
		return nil, a2a.ReadStatus(&a.call, &status).Err
	}
	for i := range a.x.Response.Events {
		if fields := a.x.Response.Events[i].Fields(); fields.HasData {
			return fields.Data, nil
		}
	}
	return nil, nil
}

// An outcome is the result of a gRPC call.
type outcome struct {
	grpc.Status
	details []errorInfo
}

// write sets the fields of the outcome.
func (o *outcome) write(set func(name, value string)) {
	details := a2a.Value{}
	if len(o.details) > 0 {
		details = a2a.Parse(marshal(o.details)).Root
	}
	if err := o.Status.Write(set, details); err != nil {
		panic(err) // they are made here
	}
}

// outcome returns the refusal in its gRPC form (A2A 1.0 §10.6).
func (e *refusal) outcome(call *a2a.Call) *outcome {
	code, _ := grpc.ParseCode(e.statusName(e.httpStatus()))
	if e.name == a2a.MethodNotFound {
		code = grpc.Unimplemented
	}
	o := &outcome{Status: grpc.Status{Code: code, Message: e.message}}
	if call.Dialects.Has(a2a.V1_0) {
		o.details = e.details()
	}
	return o
}

// overGRPC reports whether the request came over gRPC, for any method.
func (s *service) overGRPC() bool { return grpc.IsMedia(s.r.Header.Get("Content-Type")) }

// refuse answers with a refusal: over gRPC in one block of fields, unless it is only an HTTP status.
func (s *service) refuse(e *refusal) {
	if !s.overGRPC() || s.call.Binding == a2a.GRPC && e.bare {
		e.write(s.w, &s.call)
		return
	}
	if s.call.Binding == a2a.NoBinding {
		e = &refusal{name: a2a.MethodNotFound, message: e.message}
	}
	s.w.Header().Set("Content-Type", "application/grpc")
	e.outcome(&s.call).write(s.w.Header().Set)
	s.w.WriteHeader(http.StatusOK)
}
