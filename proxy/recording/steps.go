package recording

import (
	"bytes"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// A progress is what the recording goroutine knows of an exchange.
type progress struct {
	seq        uint64
	started    time.Duration // since the queue's base
	last       time.Duration // offset of the last piece
	kept       [2]int64      // bytes recorded of the request's and of the answer's body
	stream     *stream       // of an answer that is an event stream
	fault      *capture.Fault
	how        string // its client got its name
	unrecorded bool   // the sink refused its beginning: nothing of it is in the capture
	truncated  bool   // the sink refused a part of it: no more of its bodies is recorded
	missing    int64  // bytes the sink refused

	relation relation
	seeker   // while that is undecided
}

// steps appends what one piece comes to, of an exchange that has been opened.
func (r *Recorder) steps(steps []capture.Step, p *piece) []capture.Step {
	x := p.x
	if x.unrecorded {
		if n := int64(len(p.data)) + p.lost; n > 0 {
			r.countLoss(lossCount{bytes: n}, r.reason)
		}
		return steps
	}
	at := p.at - x.started
	x.last = at
	add := func(what capture.What) {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: what})
	}
	switch p.kind {
	case pieceRequestBody:
		if data, dropped := r.limit(x, p.data, 0); data != nil || dropped > 0 {
			add(capture.RequestBody{Data: data, Dropped: dropped})
		}
	case pieceRequestEnd:
		if p.dropped > 0 {
			add(capture.RequestBody{Dropped: p.dropped})
		}
		add(capture.RequestEnd{Size: p.size, Trailer: owned(p.data)})
	case pieceInformational:
		add(capture.Informational{Head: owned(p.data)})
	case pieceAnswer:
		x.stream = openStream(p.data, r.opts.MaxEvent)
		add(capture.ResponseHead{Head: owned(p.data), Stream: x.stream != nil})
	case pieceAnswerBody:
		steps = r.answerBody(steps, x, at, p.data)
	case pieceAnswerEnd:
		steps = r.endStream(steps, x, at)
		if p.dropped > 0 {
			add(capture.ResponseBody{Dropped: p.dropped})
		}
		add(capture.ResponseEnd{Size: p.size, Trailer: owned(p.data)})
	case pieceFact:
		add(*p.note.(*capture.Fact))
	case pieceNamed:
		if x.how == byUserAgent || x.how == byDefault { // else it is known, or was given a name that comes first
			if to := p.note.(*capture.Peer); to.Name != x.agent.Name {
				add(capture.Fact{Client: *to})
				x.how = to.How
			}
		}
	case pieceFault:
		if x.fault == nil {
			x.fault = p.note.(*capture.Fault)
		}
	case pieceLateFault:
		if f := p.note.(*capture.Fault); x.fault != f { // else its end has taken it up
			add(capture.Fact{Note: "after the exchange was complete: " + f.Detail})
		}
	case pieceEnded:
		steps = r.ended(steps, x, p)
	}
	return steps
}

// begin opens an exchange: it gets its number, its id and its client's name.
func (r *Recorder) begin(x *exchange, p *piece) capture.Step {
	r.seq++
	x.seq, x.started = r.seq, p.at
	r.open[x.seq] = x
	name, how := r.nameClient(x, p.data)
	x.how = how
	return capture.Step{Seq: x.seq, What: capture.Opened{
		ID:      uuid.New(),
		Conn:    x.conn.number,
		Started: r.q.base.Add(p.at).Round(0).UTC(),
		Client:  capture.Peer{Name: name, Addr: x.conn.client, How: how},
		Agent:   x.agent,
		Head:    owned(p.data),
	}}
}

// answerBody records a piece of an answer's body, cut into events if it is a stream.
func (r *Recorder) answerBody(steps []capture.Step, x *exchange, at time.Duration, p []byte) []capture.Step {
	if x.stream == nil {
		if data, dropped := r.limit(x, p, 1); data != nil || dropped > 0 {
			steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.ResponseBody{Data: data, Dropped: dropped}})
		}
		return steps
	}
	if x.truncated {
		x.missing += int64(len(p))
		return steps
	}
	events, err := x.stream.write(p)
	steps = appendEvents(steps, x, at, events)
	if err != nil {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.Fact{
			Note: "the event stream could not be decoded, the rest of it is not recorded: " + err.Error(),
		}})
	}
	if n := x.stream.undecoded(); n > 0 {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.ResponseBody{Dropped: n}})
	}
	return steps
}

// limit returns what of a piece is to be recorded, owned, and how many bytes after that are not.
func (r *Recorder) limit(x *exchange, p []byte, side int) (data []byte, dropped int64) {
	if x.truncated {
		x.missing += int64(len(p))
		return nil, int64(len(p))
	}
	n := min(int64(len(p)), r.opts.MaxBody-x.kept[side])
	x.kept[side] += n
	if x.kept[side] == r.opts.MaxBody {
		[]*flow{&x.request, &x.answer}[side].full.Store(true)
	}
	return owned(p[:n]), int64(len(p)) - n
}

// endStream ends the stream of an answer: what was not dispatched by a blank line is its last event.
func (r *Recorder) endStream(steps []capture.Step, x *exchange, at time.Duration) []capture.Step {
	if x.stream == nil {
		return steps
	}
	if !x.truncated {
		steps = appendEvents(steps, x, at, x.stream.flush())
	}
	x.stream.close()
	x.stream = nil
	return steps
}

// ended closes an exchange that the relay has finished with.
func (r *Recorder) ended(steps []capture.Step, x *exchange, p *piece) []capture.Step {
	at := p.at - x.started
	steps = r.endStream(steps, x, at)
	if p.size > 0 {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.RequestBody{Dropped: p.size}})
	}
	if p.dropped > 0 {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.ResponseBody{Dropped: p.dropped}})
	}
	if x.fault == nil {
		x.fault = x.late.Load()
	}
	r.count(func(s *Stats) { s.LostBytes += p.lost })
	return r.close(steps, x, at, capture.Closed{Fault: x.fault, Dropped: p.lost})
}

func (r *Recorder) close(steps []capture.Step, x *exchange, at time.Duration, c capture.Closed) []capture.Step {
	c.Dropped += x.missing
	delete(r.open, x.seq)
	return append(steps, capture.Step{Seq: x.seq, Offset: at, What: c})
}

func appendEvents(steps []capture.Step, x *exchange, at time.Duration, events []event) []capture.Step {
	for _, e := range events {
		e.At = at
		steps = append(steps, capture.Step{
			Seq: x.seq, Offset: at, What: capture.ResponseEvent{Event: e.Event}, Parsed: &capture.Parsed{Fields: e.fields},
		})
	}
	return steps
}

// owned returns a copy that the sink may keep, nil for nothing.
func owned(p []byte) []byte {
	if len(p) == 0 {
		return nil
	}
	return bytes.Clone(p)
}
