package analyzer

import (
	"time"

	"a2atap/proxy/capture"
)

// maxHeld bounds the steps of an answer that wait for the end of their request.
const maxHeld = 10_000

// An intake gathers the steps of one exchange until there is something to observe.
type intake struct {
	x        *Exchange
	request  capture.Body
	response capture.Body
	asked    bool            // the whole request was seen and decoded
	held     []capture.Step  // of the answer, which overtook its request
	ended    bool            // the answer ended as its framing says
	judged   bool            // at least one rule applied
	reported map[string]bool // rules that report once an exchange and have
}

// take sorts one step into its exchange.
func (e *Engine) take(s capture.Step) {
	if opened, ok := s.What.(capture.Opened); ok {
		e.counts.Exchanges++
		e.open[s.Seq] = &intake{x: open(s, opened)}
		return
	}
	in := e.open[s.Seq]
	if in == nil {
		return // its beginning is not in the record, or it is over and only facts come
	}
	if !in.asked && ofAnswer(s.What) {
		in.hold(s)
		return
	}
	e.applied = false
	e.advance(in, s)
	if e.applied && !in.judged {
		in.judged = true
		e.counts.Judged++
	}
}

func (in *intake) hold(s capture.Step) {
	if len(in.held) >= maxHeld {
		in.x.Cut = true
		return
	}
	in.held = append(in.held, s)
}

func ofAnswer(what capture.What) bool {
	switch what.(type) {
	case capture.ResponseHead, capture.ResponseBody, capture.ResponseEvent, capture.ResponseEnd, capture.Closed:
		return true
	}
	return false
}

func (e *Engine) advance(in *intake, s capture.Step) {
	switch what := s.What.(type) {
	case capture.RequestBody:
		addTo(&in.request, what.Data, what.Dropped, what.Decoded)
	case capture.RequestEnd:
		in.request.Size, in.request.Complete = what.Size, true
		e.request(in, s)
		e.release(in)
	case capture.ResponseHead:
		in.x.Response, in.x.Answered = capture.ParseResponseHead(what.Head), true
		if what.Stream {
			in.x.Stream = &Stream{}
			e.counts.Streams++
		}
	case capture.ResponseBody:
		addTo(&in.response, what.Data, what.Dropped, what.Decoded)
	case capture.ResponseEvent:
		e.event(in, s, what.Event)
	case capture.ResponseEnd:
		in.response.Size, in.response.Complete, in.ended = what.Size, true, true
		if in.x.Stream == nil {
			e.answer(in, s)
		}
	case capture.Fact:
		if what.Client.Name != "" {
			in.x.Link.Client = what.Client.Name
		}
	case capture.Closed:
		e.closed(in, s, what)
	}
}

// release feeds the steps that waited for the request's end.
func (e *Engine) release(in *intake) {
	held := in.held
	in.held = nil
	for _, s := range held {
		e.advance(in, s)
	}
}

// closed ends an exchange. A request that never came whole is not judged, and neither is its answer.
func (e *Engine) closed(in *intake, s capture.Step, c capture.Closed) {
	if in.x.Stream != nil && in.asked {
		end := StreamEnd{Clean: in.ended && c.Fault == nil && !c.Interrupted, Fault: c.Fault, Open: c.Interrupted}
		if c.Dropped > 0 {
			in.x.Stream.Gap = true
		}
		e.streamEnded(in, s, end)
	}
	if c.Dropped > 0 {
		e.counts.Lost++
	}
	e.done = append(e.done, s.Seq)
}

func addTo(b *capture.Body, data []byte, dropped int64, decoded bool) {
	if b.Data == nil {
		b.Data = []byte{}
	}
	b.Data = append(b.Data, data...)
	b.Dropped += dropped
	b.Decoded = b.Decoded || decoded
}

func open(s capture.Step, o capture.Opened) *Exchange {
	x := &Exchange{
		Seq:     s.Seq,
		ID:      o.ID,
		Link:    Link{Client: o.Client.Name, Agent: o.Agent.Name},
		Opened:  s.Arrival,
		Started: o.Started,
		Request: capture.ParseRequestHead(o.Head),
	}
	x.Origin, x.Path = target(o.Agent.URL, x.Request.Target)
	return x
}

// at returns the instant of a step, or the zero time if it was not measured.
func (x *Exchange) at(s capture.Step) time.Time {
	if x.Started.IsZero() || s.Offset < 0 {
		return time.Time{}
	}
	return x.Started.Add(s.Offset)
}
