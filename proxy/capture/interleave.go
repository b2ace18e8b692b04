package capture

import (
	"container/heap"
	"iter"
	"slices"
	"time"
)

// Steps returns the steps that make up an exchange, in order of time; Assemble makes the same exchange of them again.
// The pieces of a body are one step, since nothing else is known of them, and facts stand behind the first step.
// Arrival is 0. Bytes are shared with the exchange.
//
// Offsets that are not known do not disturb the order that HTTP gives: the request, then the head of the response, its
// body or events, the end. Where they are known, a response may begin before its request has ended.
func Steps(x *Exchange) []Step {
	timed := timedSteps(x)
	steps := make([]Step, len(timed))
	for i := range timed {
		steps[i] = timed[i].step
	}
	return steps
}

// A timedStep is a step and where it stands in its exchange: its offset, or the one known before it.
type timedStep struct {
	step Step
	at   time.Duration
}

// A stepList is one direction of an exchange.
type stepList struct {
	seq  uint64
	list []timedStep
	at   time.Duration // the latest offset known so far
}

func (l *stepList) add(offset time.Duration, what What) {
	l.at = max(l.at, offset)
	l.list = append(l.list, timedStep{Step{Seq: l.seq, Offset: offset, What: what}, l.at})
}

func timedSteps(x *Exchange) []timedStep {
	all := &stepList{seq: x.Seq}
	all.add(0, Opened{
		ID: x.ID, Conn: x.Conn, Stream: x.Stream, Started: x.Started, Client: x.Client, Agent: x.Agent, Head: x.Request.Head,
	})
	all.facts(x)
	request := &stepList{seq: x.Seq}
	request.request(&x.Request)
	response := &stepList{seq: x.Seq}
	if x.Response != nil {
		response.at = request.at // an answer without times comes after its request
		if x.Response.At != NotKnown {
			response.at = min(response.at, x.Response.At)
		}
		response.response(x.Response)
	}
	all.merge(request.list, response.list)
	all.ends(x)
	all.at = max(request.at, response.at)
	if x.State != StateOpen {
		all.add(x.Ended, Closed{Fault: x.Fault, Interrupted: x.State == StateInterrupted, Dropped: x.Lost})
	} else if x.Lost > 0 {
		all.add(NotKnown, Lost{Bytes: x.Lost})
	}
	return all.list
}

// merge adds two directions in order of time, the request's first where they are even.
func (l *stepList) merge(request, response []timedStep) {
	for len(request) > 0 || len(response) > 0 {
		if len(response) == 0 || len(request) > 0 && request[0].at <= response[0].at {
			l.list, request = append(l.list, request[0]), request[1:]
		} else {
			l.list, response = append(l.list, response[0]), response[1:]
		}
	}
}

// ends adds how the sides ended their part, each behind what had passed by then.
func (l *stepList) ends(x *Exchange) {
	for _, e := range x.Ends {
		i := len(l.list)
		for e.At != NotKnown && i > 1 && l.list[i-1].at > e.At {
			i--
		}
		at := max(l.list[i-1].at, e.At)
		l.list = slices.Insert(l.list, i, timedStep{Step{Seq: l.seq, Offset: e.At, What: Fact{End: e}}, at})
	}
}

func (l *stepList) facts(x *Exchange) {
	var note string
	notes := x.Notes
	if len(notes) > 0 {
		note, notes = notes[0], notes[1:]
	}
	if len(x.Rewrites) > 0 || note != "" || x.Replayed {
		l.add(NotKnown, Fact{Rewrites: x.Rewrites, Note: note, Replayed: x.Replayed})
	}
	for _, note := range notes {
		l.add(NotKnown, Fact{Note: note})
	}
}

func (l *stepList) request(r *Request) {
	b := &r.Body
	if b.hasPiece(b.Dropped) {
		l.add(b.At, RequestBody{Data: b.Data, Dropped: b.Dropped, Decoded: b.Decoded})
	}
	if b.Complete {
		l.add(b.At, RequestEnd{Size: b.Size, Trailer: r.Trailer})
	}
}

func (l *stepList) response(r *Response) {
	for _, head := range r.Informational {
		l.add(NotKnown, Informational{Head: head})
	}
	if r.Head != nil || r.Stream || r.At != NotKnown || len(r.Informational) == 0 {
		l.add(r.At, ResponseHead{Head: r.Head, Stream: r.Stream})
	}
	b := &r.Body
	dropped := b.Dropped
	known := 0 // the next event that has a time
	for i, e := range r.Events {
		dropped -= e.Dropped
		if e.At == NotKnown {
			known = max(known, i)
			for known < len(r.Events) && r.Events[known].At == NotKnown {
				known++
			}
			l.at = max(l.at, r.knownAt(known))
		}
		l.add(e.At, ResponseEvent{Event: e})
	}
	if b.hasPiece(dropped) {
		l.add(b.At, ResponseBody{Data: b.Data, Dropped: dropped, Decoded: b.Decoded})
	}
	if b.Complete {
		l.add(b.At, ResponseEnd{Size: b.Size, Trailer: r.Trailer})
	}
}

// knownAt returns by when an event without a time had arrived, given the index of the next one that has a time: with that,
// or with the end. An earlier time would claim that what it says was known before other exchanges began.
func (r *Response) knownAt(next int) time.Duration {
	if next < len(r.Events) {
		return r.Events[next].At
	}
	return r.Body.At
}

// hasPiece reports whether the body says more than its end does.
func (b *Body) hasPiece(dropped int64) bool {
	emptyAtEnd := len(b.Data) == 0 && b.Complete && b.Size == 0
	return b.Data != nil && !emptyAtEnd || dropped != 0 || b.Decoded
}

// Interleave makes steps of exchanges: in order of time, with their sequence numbers, and with arrival numbers from 1.
// Steps at the same instant come in order of Seq. It reads an exchange when the time of its start has come, and holds
// those that overlap, never more; so the exchanges have to come in order of Started. One that comes late has its steps
// where it comes. An error of the source is yielded after the steps of the exchanges before it, and ends the sequence.
//
// An exchange whose offsets are not known is taken to be over as soon as it begins: it overlaps no other.
func Interleave(exchanges iter.Seq2[*Exchange, error]) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		m := merger{}
		for x, err := range exchanges {
			if err != nil {
				if m.drain(yield) {
					yield(Step{}, err)
				}
				return
			}
			if !m.drainBefore(x.Started, yield) {
				return
			}
			heap.Push(&m.open, &track{seq: x.Seq, started: x.Started, steps: timedSteps(x)})
		}
		m.drain(yield)
	}
}

// A track is what is left of an exchange.
type track struct {
	seq     uint64
	started time.Time
	steps   []timedStep
}

func (t *track) time() time.Time { return t.started.Add(t.steps[0].at) }

// A merger merges the tracks of exchanges that overlap.
type merger struct {
	open    tracks
	arrival uint64
}

// drainBefore yields the steps that lie before an instant. It reports whether to go on.
func (m *merger) drainBefore(instant time.Time, yield func(Step, error) bool) bool {
	for len(m.open) > 0 && m.open[0].time().Before(instant) {
		if !m.step(yield) {
			return false
		}
	}
	return true
}

// drain yields all steps that are left. It reports whether to go on.
func (m *merger) drain(yield func(Step, error) bool) bool {
	for len(m.open) > 0 {
		if !m.step(yield) {
			return false
		}
	}
	return true
}

func (m *merger) step(yield func(Step, error) bool) bool {
	first := m.open[0]
	s := first.steps[0].step
	first.steps = first.steps[1:]
	if len(first.steps) == 0 {
		heap.Pop(&m.open)
	} else {
		heap.Fix(&m.open, 0)
	}
	m.arrival++
	s.Arrival = m.arrival
	return yield(s, nil)
}

// tracks is a heap: the earliest first.
type tracks []*track

func (t tracks) Len() int      { return len(t) }
func (t tracks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *tracks) Push(x any)   { *t = append(*t, x.(*track)) }

func (t tracks) Less(i, j int) bool {
	if c := t[i].time().Compare(t[j].time()); c != 0 {
		return c < 0
	}
	return t[i].seq < t[j].seq
}

func (t *tracks) Pop() any {
	old := *t
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	return last
}
