package intake

import (
	"cmp"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// noteUnreadable records a note that gives the reason why a message was withheld. The note precedes the message. The
// first note counts.
func (in *openExchange) noteUnreadable(note string) {
	unread, ok := capture.ParseUnreadable(note)
	if !ok {
		return
	}
	if known := &in.unread[min(unread.Event, 1)]; known.Err == nil {
		*known = unread
	}
}

// withheld returns message k of the answer, or the request's message if k is 0, if it was withheld as unreadable;
// otherwise nil.
func (in *openExchange) withheld(k int) *grpc.Reading {
	if known := &in.unread[min(k, 1)]; known.Err != nil && known.Event == k {
		return known.Reading()
	}
	return nil
}

// requestMessage returns the message of a request over gRPC; nil of all others.
func (ob *observer) requestMessage(in *openExchange, p *capture.Parsed) *grpc.Reading {
	if p != nil && p.Message != nil {
		return p.Message
	}
	as := in.X.Request.GRPCMessage()
	b := &in.request
	if as == nil {
		return nil
	}
	notKept := &grpc.Reading{Err: grpc.ErrNotKept}
	if b.Dropped > 0 || b.Data == nil && b.Size != 0 {
		return cmp.Or(in.withheld(0), notKept)
	}
	m := ob.readMessage(as, b.Data)
	if m.Err == nil && len(m.Rest) > 0 {
		if next, _, ok := grpc.Cut(m.Rest); !ok || !next.Whole() { // as a recorder finds, which reads every message
			m = &grpc.Reading{Err: grpc.ErrCutOff}
		}
	}
	if mayLack(b, m.Err != nil) {
		return notKept
	}
	return m
}

// answerMessage returns a message of an answer over gRPC.
func (ob *observer) answerMessage(x *analysis.Exchange, s *capture.Step, raw []byte) *grpc.Reading {
	if s.Parsed != nil && s.Parsed.Message != nil {
		return s.Parsed.Message
	}
	as := grpc.Codec{Type: x.Call.RPC.Answer, Encoding: x.Response.Fields.Get("Grpc-Encoding")}
	return ob.readMessage(&as, raw)
}

// grpcMessage handles a message of a gRPC answer: an event of a stream, or the answer of a unary call. The latter waits
// for the trailer, which decides whether it counts.
func (r *Reader) grpcMessage(in *openExchange, s capture.Step, raw capture.Event) {
	x := in.X
	if !x.Call.Streams && raw.K == 2 && raw.Unterminated { // bytes after the message that are not a message
		in.only, in.onlyK = cmp.Or(in.withheld(raw.K), &grpc.Reading{Err: grpc.ErrCutOff}), raw.K
		return
	}
	x.Messages = max(x.Messages, raw.K)
	if x.Call.Streams && x.Stream == nil {
		x.Stream = &analysis.Stream{Gap: x.Cut}
		r.counter.Counts.Streams++
	}
	r.leaveOut(in, &s, &raw)
	switch {
	case x.Stream != nil:
		r.event(in, s, raw)
	case raw.K != 1:
	case raw.Dropped == 0:
		if in.only = r.answerMessage(x, &s, raw.Raw); !r.hold(in, in.only.Size()) {
			in.only = nil
			r.gap(in)
		}
	default:
		if in.only = in.withheld(raw.K); in.only == nil {
			in.lack("its answer's message", "was not kept")
			in.cut()
		}
	}
}

// endedInMessage reports whether a gRPC stream ended with status OK inside a message, which makes every client library
// fail the call.
func (in *openExchange) endedInMessage() bool {
	x := in.X
	if x.Call.Binding != a2a.GRPC || x.Stream == nil || x.Stream.Rest == nil || x.Cut || in.gap || !x.Ended {
		return false
	}
	status, told := x.GRPCStatus()
	return told && status.Code == grpc.OK
}

// grpcEnded handles the end of a gRPC answer, whose trailer has the outcome of the call.
func (r *Reader) grpcEnded(in *openExchange, s capture.Step, trailer []byte) {
	x := in.X
	x.Trailer, _ = capture.ParseFields(trailer)
	status, told := x.GRPCStatus()
	switch {
	case !told:
		if !grpc.IsMedia(x.Response.Fields.Get("Content-Type")) {
			r.answer(in, s) // not a gRPC response
		}
	case status.Code != grpc.OK:
		r.grpcFailed(in, s, &status)
	case !x.Call.Streams:
		r.grpcAnswered(in, s)
	case x.Stream == nil:
		x.Stream = &analysis.Stream{Gap: x.Cut}
		r.counter.Counts.Streams++
	}
}

// grpcAnswered observes the one message of an answer.
func (ob *observer) grpcAnswered(in *openExchange, s capture.Step) {
	x := in.X
	if x.Cut {
		return
	}
	place, doc, text := x.ResponsePlace().Body(), &a2a.Doc{}, []byte(nil)
	if in.only != nil {
		place, doc, text = x.ResponsePlace().Event(max(in.onlyK, 1)), &in.only.Doc, in.only.Text
		x.Answer = in.only
		if in.only.Err != nil && in.only.Limit() {
			in.lack("its answer's message", "cannot be read: "+in.only.Err.Error())
			in.cut()
			return
		}
	}
	a := a2a.ReadAnswer(&x.Call, x.Response.Status, "", doc)
	ob.takeAnswer(in, s, &a, place, text)
}

// grpcFailed observes the error of a gRPC call: as its answer, or as an additional event after the messages of a
// stream.
func (ob *observer) grpcFailed(in *openExchange, s capture.Step, status *grpc.Status) {
	x := in.X
	a := a2a.ReadStatus(&x.Call, status)
	place := x.GRPCPlace(grpc.StatusField)
	if status.Details() != nil {
		place = x.GRPCPlace(grpc.DetailsField)
	}
	if x.Stream == nil {
		ob.takeAnswer(in, s, &a, place, nil)
		return
	}
	o := ob.message(x, analysis.EventSeen, s)
	o.Place, o.Answer, o.Doc = place, &a, &a.Doc
	o.Event = &analysis.Event{K: in.lastK + 1, Fields: capture.EventFields{Retry: capture.NotKnown}}
	o.Dialects = answerDialects(x)
	in.gathered.answered(&a, o.Event)
	ob.takeEvent(in, o)
}
