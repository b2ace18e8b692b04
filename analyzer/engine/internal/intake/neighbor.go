package intake

import (
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/capture"
	"a2atap/proxy/neighbor"
)

// Bounds for reading calls that are not A2A. These calls are not judged, so data beyond the bounds is not missing.
const (
	neighborRoom = 64 << 10      // bytes of text and arguments of one answer
	neighborBody = 4 << 20       // bytes of a body that is gathered
	neighborHold = maxBodies / 2 // held bytes beyond which no more of such a call is gathered: the rest is for A2A
)

// meet recognizes a call that is not A2A, and reports whether the exchange is one.
func (ob *observer) meet(in *openExchange) bool {
	x := in.X
	if x.Judged() || x.Gather || x.Sender != "" || x.Message != nil {
		return false
	}
	r := neighbor.Request{Method: x.Request.Method, Target: x.Request.Target, Fields: x.Request.Fields}
	if doc := x.Doc(); doc.Err == nil {
		r.Body = doc.Root
	}
	if in.near = neighbor.Recognize(r, neighborRoom); in.near == nil {
		return false
	}
	x.Neighbor = &in.near.Call
	switch {
	case !r.Body.Exists():
	case in.near.Kind == neighbor.MCP: // its ids differ
		in.asks = digest.Empty.Bytes(r.Body.Get("params").Get("arguments").Raw())
	default:
		in.asks = digest.Empty.Bytes(x.Body)
	}
	if in.near.Kind == neighbor.MCP {
		ob.sessions.join(in)
	}
	return true
}

// advanceNeighbor reads a step of the answer to a call that is not A2A.
func (r *Reader) advanceNeighbor(in *openExchange, s capture.Step) {
	switch what := s.What.(type) {
	case capture.ResponseHead:
		in.X.Response, in.X.Answered = headOf(s, what.Head, capture.ParseResponseHead), true
		in.near.Status(&in.X.Response)
	case capture.ResponseBody:
		b := &in.response
		if b.Data == nil && len(what.Data) > 0 {
			in.near.Began(&in.X.Response, s.Offset)
		}
		if b.Dropped > 0 || what.Dropped > 0 || len(b.Data)+len(what.Data) > neighborBody || r.held+len(what.Data) > neighborHold {
			b.Dropped += int64(len(what.Data)) + what.Dropped
			return
		}
		r.add(in, b, what.Data, 0, what.Decoded)
	case capture.ResponseEvent:
		if len(what.Event.Raw) > 0 && !(in.near.Listens() && r.onStream(in, &what.Event, &s)) {
			in.near.Event(&what.Event, s.Parsed, s.Offset)
		}
	case capture.ResponseEnd:
		b := &in.response
		b.Size, b.Complete, in.X.Ended = what.Size, true, true
		if b.Data == nil || r.leavesOut(len(b.Data), s.Parsed) {
			return
		}
		if body, doc, lacks := r.content(b, &in.X.Response, s.Parsed); lacks == "" {
			in.near.Answer(in.X.Response.Status, body, doc)
		}
		r.held -= len(b.Data)
		in.size -= len(b.Data)
		b.Data = nil
	}
}
