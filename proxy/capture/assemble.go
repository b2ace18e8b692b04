package capture

import "fmt"

// Assemble adds a step to its exchange and returns the exchange: a new one for Opened, otherwise x. It copies no bytes:
// pieces of a body are appended to one slice, everything else is shared with the step.
//
// A step that does not fit (a body before its head, anything but Opened when x is nil) is a gap in the recording, not
// an error: its content is kept. Steps with Seq 0 change nothing.
func Assemble(x *Exchange, s Step) *Exchange {
	if open, ok := s.What.(Opened); ok {
		return new(open.Exchange(s.Seq))
	}
	if x == nil {
		x = new(Opened{}.Exchange(s.Seq))
	}
	switch what := s.What.(type) {
	case RequestBody:
		x.Request.Body.add(what.Data, what.Dropped, what.Decoded, s)
	case RequestEnd:
		x.Request.Trailer = what.Trailer
		x.Request.Body.end(what.Size, s)
	case Informational:
		x.response().Informational = append(x.response().Informational, what.Head)
	case ResponseHead:
		r := x.response()
		r.Head, r.Stream, r.At = what.Head, what.Stream, s.Offset
	case ResponseBody:
		x.response().Body.add(what.Data, what.Dropped, what.Decoded, s)
	case ResponseEvent:
		x.addEvent(what.Event, s)
	case ResponseEnd:
		x.response().Trailer = what.Trailer
		x.response().Body.end(what.Size, s)
		if x.Response.Stream {
			x.Response.Body.Data = nil
		}
	case Fact:
		x.addFact(what)
	case Closed:
		x.close(what, s)
	case Lost:
		x.addLost(what, s)
	}
	return x
}

// Exchange returns the exchange with that number in its initial state.
func (o Opened) Exchange(seq uint64) Exchange {
	return Exchange{
		Seq: seq, ID: o.ID, Conn: o.Conn, Stream: o.Stream, Started: o.Started, Ended: NotKnown,
		Client: o.Client, Agent: o.Agent,
		Request: Request{Head: o.Head, Body: Body{Size: NotKnown, At: NotKnown}},
	}
}

func (x *Exchange) response() *Response {
	if x.Response == nil {
		x.Response = &Response{At: NotKnown, Body: Body{Size: NotKnown, At: NotKnown}}
	}
	return x.Response
}

func (x *Exchange) addEvent(e Event, s Step) {
	e.At = s.Offset
	r := x.response()
	r.Stream = true
	if e.As == nil && e.IsMessage() {
		if n := len(r.Events); n > 0 && r.Events[n-1].As != nil {
			e.As = r.Events[n-1].As
		} else {
			e.As = x.answers()
		}
	}
	r.Events = append(r.Events, e)
	r.Body.Dropped += e.Dropped
	r.Body.At = s.Offset
}

func (x *Exchange) addFact(f Fact) {
	if f.Client.Name != "" {
		x.Client = f.Client
	}
	x.Rewrites = append(x.Rewrites, f.Rewrites...)
	if name := f.AgentName(); name != "" {
		x.Agent.Name, x.Agent.How = name, ByServer
	} else if f.Note != "" {
		x.Notes = append(x.Notes, f.Note)
	}
	x.Replayed = x.Replayed || f.Replayed
	if f.End.Side != "" {
		x.Ends = withSideEnd(x.Ends, f.End)
	}
}

func (x *Exchange) addLost(l Lost, s Step) {
	if s.Seq == 0 {
		return
	}
	x.Lost = AddLost(x.Lost, l.Bytes)
	if l.Reason != "" {
		x.Notes = append(x.Notes, fmt.Sprintf("%d bytes were not recorded: %s", l.Bytes, l.Reason))
	}
}

func (x *Exchange) close(c Closed, s Step) {
	x.Fault = c.Fault
	x.Lost = AddLost(x.Lost, c.Dropped)
	x.State = StateClosed
	x.Ended = s.Offset
	if c.Interrupted {
		x.State = StateInterrupted
		x.Ended = NotKnown
	}
}

func (b *Body) add(data []byte, dropped int64, decoded bool, s Step) {
	if b.Data == nil && data != nil {
		b.Data = data[:len(data):len(data)]
	} else {
		b.Data = append(b.Data, data...)
	}
	b.Dropped += dropped
	b.Decoded = b.Decoded || decoded
	b.At = s.Offset
}

func (b *Body) end(size int64, s Step) {
	b.Size = size
	b.Complete = true
	if size == 0 && b.Data == nil {
		b.Data = []byte{}
	}
	b.At = s.Offset
}
