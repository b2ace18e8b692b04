package capture

import (
	"cmp"
	"container/heap"
	"iter"
	"math"
	"slices"
	"time"
)

// Steps returns the steps of an exchange, in order of time; Assemble rebuilds the exchange from them. A body is one
// step, since its pieces are unknown, and facts follow the first step. Arrival is 0. Bytes are shared with the
// exchange.
//
// Unknown offsets do not disturb the order that HTTP implies: the request, then the head of the response, its body or
// events, the end. If offsets are known, a response may begin before its request has ended.
func Steps(x *Exchange) []Step {
	var steps []Step
	for t := range timedSteps(x) {
		steps = append(steps, t.step)
	}
	return steps
}

// A timedStep is a step and its position in its exchange: its offset, or the last known one before it.
type timedStep struct {
	step Step
	at   time.Duration
}

// A stepList is one direction of an exchange.
type stepList struct {
	seq   uint64
	yield func(timedStep) bool // reports whether to continue
	at    time.Duration        // the latest offset known so far
	over  bool
}

func (l *stepList) add(offset time.Duration, what What) {
	l.at = max(l.at, offset)
	l.over = l.over || !l.yield(timedStep{Step{Seq: l.seq, Offset: offset, What: what}, l.at})
}

// timedSteps yields the steps of an exchange one at a time: a stream may have a million events.
func timedSteps(x *Exchange) iter.Seq[timedStep] {
	return func(yield func(timedStep) bool) {
		ends := endings{seq: x.Seq, left: x.Ends, yield: yield}
		all := &stepList{seq: x.Seq, yield: ends.before}
		all.add(0, Opened{
			ID: x.ID, Conn: x.Conn, Stream: x.Stream, Started: x.Started, Client: x.Client, Agent: x.Agent, Head: x.Request.Head,
		})
		all.facts(x)
		var asked []timedStep
		request := &stepList{seq: x.Seq, yield: func(t timedStep) bool { asked = append(asked, t); return true }}
		request.request(&x.Request)
		askedUntil := func(at time.Duration) bool { // the request's come first where they are even
			for len(asked) > 0 && asked[0].at <= at && !all.over {
				all.over = !ends.before(asked[0])
				asked = asked[1:]
			}
			return !all.over
		}
		response := &stepList{seq: x.Seq, yield: func(t timedStep) bool { return askedUntil(t.at) && ends.before(t) }}
		if x.Response != nil {
			response.at = request.at // an answer without times comes after its request
			if x.Response.At != NotKnown {
				response.at = min(response.at, x.Response.At)
			}
			response.response(x.Response)
		}
		if response.over || !askedUntil(math.MaxInt64) || !ends.rest() {
			return
		}
		all.at = max(request.at, response.at)
		all.yield = yield
		if x.State != StateOpen {
			all.add(x.Ended, Closed{Fault: x.Fault, Interrupted: x.State == StateInterrupted, Dropped: x.Lost})
		} else if x.Lost > 0 {
			all.add(NotKnown, Lost{Bytes: x.Lost})
		}
	}
}

// endings adds the ends of the sides, each after the data that had passed by then.
type endings struct {
	seq   uint64
	left  []SideEnd
	yield func(timedStep) bool
	begun bool
	at    time.Duration // of the last step
}

// before yields the ends before a step, and the step.
func (e *endings) before(t timedStep) bool {
	for e.begun {
		first := -1
		for i, end := range e.left {
			if end.At != NotKnown && end.At < t.at && (first < 0 || end.At < e.left[first].At) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		end := e.left[first]
		e.left = slices.Delete(slices.Clone(e.left), first, first+1)
		if !e.add(end) {
			return false
		}
	}
	e.begun, e.at = true, t.at
	return e.yield(t)
}

// rest yields the remaining ends. An end without a known time follows the one before it.
func (e *endings) rest() bool {
	var last []timedStep
	for at := e.at; len(e.left) > 0; e.left = e.left[1:] {
		end := e.left[0]
		if at = max(at, end.At); end.At == NotKnown {
			end.At = at
		}
		last = append(last, timedStep{Step{What: Fact{End: e.left[0]}}, end.At})
	}
	slices.SortStableFunc(last, func(a, b timedStep) int { return cmp.Compare(a.at, b.at) })
	for _, t := range last {
		if !e.add(t.step.What.(Fact).End) {
			return false
		}
	}
	return true
}

func (e *endings) add(end SideEnd) bool {
	e.at = max(e.at, end.At)
	return e.yield(timedStep{Step{Seq: e.seq, Offset: end.At, What: Fact{End: end}}, e.at})
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
		if l.over {
			return
		}
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

// knownAt returns the time by which an event without a time had arrived, given the index of the next event with a time:
// that time, or the end. An earlier time would claim that the event was known before other exchanges began.
func (r *Response) knownAt(next int) time.Duration {
	if next < len(r.Events) {
		return r.Events[next].At
	}
	return r.Body.At
}

// hasPiece reports whether the body has information beyond that in its end.
func (b *Body) hasPiece(dropped int64) bool {
	emptyAtEnd := len(b.Data) == 0 && b.Complete && b.Size == 0
	return b.Data != nil && !emptyAtEnd || dropped != 0 || b.Decoded
}

// Interleave turns exchanges into steps: in order of time, with their sequence numbers, and with arrival numbers from
// 1. Steps at the same instant are ordered by Seq. It reads each exchange when its start time is reached, and holds
// only overlapping ones, so the exchanges must be in order of Started. The steps of a late exchange come when the
// exchange does. An error of the source is yielded after the steps of the exchanges before it, and ends the sequence.
//
// An exchange with unknown offsets counts as over as soon as it begins: it overlaps no other.
func Interleave(exchanges iter.Seq2[*Exchange, error]) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		m := merger{}
		defer m.end()
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
			t := &track{seq: x.Seq, started: x.Started}
			t.next, t.stop = iter.Pull(timedSteps(x))
			t.first, _ = t.next() // that it was opened
			heap.Push(&m.open, t)
		}
		m.drain(yield)
	}
}

// A track is what is left of an exchange.
type track struct {
	seq     uint64
	started time.Time
	first   timedStep
	next    func() (timedStep, bool)
	stop    func()
}

func (t *track) time() time.Time { return t.started.Add(t.first.at) }

// A merger merges the tracks of exchanges that overlap.
type merger struct {
	open    tracks
	arrival uint64
}

// drainBefore yields the steps before an instant. It reports whether to continue.
func (m *merger) drainBefore(instant time.Time, yield func(Step, error) bool) bool {
	for len(m.open) > 0 && m.open[0].time().Before(instant) {
		if !m.step(yield) {
			return false
		}
	}
	return true
}

// drain yields all remaining steps. It reports whether to continue.
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
	s := first.first.step
	var more bool
	if first.first, more = first.next(); !more {
		heap.Pop(&m.open)
	} else {
		heap.Fix(&m.open, 0)
	}
	m.arrival++
	s.Arrival = m.arrival
	return yield(s, nil)
}

// end forgets the rest.
func (m *merger) end() {
	for _, t := range m.open {
		t.stop()
	}
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
