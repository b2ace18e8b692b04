package merge

import (
	"strings"
	"sync"
	"time"

	"a2atap/proxy/capture"
)

// A writer writes the merged capture.
type writer struct {
	sink      capture.Sink
	clocks    *clocks
	seq, conn uint64
	late      bool // what was written cannot be taken back: the recordings are followed

	mu      sync.Mutex
	summary Summary
}

// write takes a step to the merged capture.
func (w *writer) write(r *recorder, x *exchange, s capture.Step) error {
	w.count(func(sum *Summary) { sum.Steps++ })
	if s.Seq == 0 {
		if lost, is := s.What.(capture.Lost); is {
			lost.Reason = r.says(lost.Reason)
			s.What = lost
		}
		return w.append(capture.Step{Offset: s.Offset, What: s.What})
	}
	if _, is := s.What.(capture.Opened); is {
		r.out.opened = r.out.opened[1:]
		r.out.exchanges[s.Seq] = x
	}
	if x == nil {
		w.count(func(sum *Summary) { sum.Dropped++ })
		r.leaveOut(s)
		return nil
	}
	defer x.pass(s.What)
	if x.stays != nil {
		return w.fold(x, s)
	}
	return w.keep(r, x, s)
}

func (x *exchange) pass(what capture.What) {
	switch what.(type) {
	case capture.Opened:
		x.passed.opened = true
	case capture.ResponseHead:
		x.passed.head = true
	case capture.ResponseEvent:
		x.passed.blocks++
	case capture.ResponseEnd:
		x.passed.head, x.passed.end = true, true
	case capture.Closed:
		x.passed.closed = true
	}
}

// keep writes a step of an exchange that stays.
func (w *writer) keep(r *recorder, x *exchange, s capture.Step) error {
	s.Arrival = 0
	switch what := s.What.(type) {
	case capture.Opened:
		w.seq++
		x.out = w.seq
		if what.Conn != 0 {
			if r.out.conns[what.Conn] == 0 {
				w.conn++
				r.out.conns[what.Conn] = w.conn
			}
			what.Conn = r.out.conns[what.Conn]
		}
		what.Started = time.Unix(0, w.clocks.corrected(r.Host, x.started)).UTC()
		what.Client = r.client(x.client, x.agent) // which a fact may have changed since
		in := x.agent.innermost()
		what.Agent.Name, what.Agent.URL = in.label, in.url
		if in != x.agent {
			what.Agent.Addr = ""
		}
		s.What = what
		w.count(func(sum *Summary) { sum.Exchanges++ })
	case capture.Fact:
		if what.Client.Name != "" {
			what.Client = r.client(what.Client, x.agent)
			s.What = what
		}
		if what.AgentName() != "" {
			what.Note = capture.NamedByServer + x.agent.innermost().label
			s.What = what
		}
	case capture.Lost:
		what.Reason = r.says(what.Reason)
		s.What = what
	case capture.Closed:
		if !w.late {
			if err := w.noteChain(x); err != nil {
				return err
			}
		}
	}
	s.Seq = x.out
	return w.append(w.restored(x, s)...)
}

// noteChain adds notes to an ending exchange about other recorders' views of it.
func (w *writer) noteChain(x *exchange) error {
	if x.up != nil && x.up.stays == x { // a notification
		if err := w.note(x.up); err != nil {
			return err
		}
	}
	for y := x; y.down != nil; y = y.down {
		if y.down.apart {
			break // reported when both have arrived
		}
		if err := w.note(y); err != nil {
			return err
		}
	}
	return nil
}

// fold adds the parts worth keeping from a step of a view that does not stay.
func (w *writer) fold(x *exchange, s capture.Step) error {
	w.count(func(sum *Summary) {
		sum.Folded++
		if _, opened := s.What.(capture.Opened); opened {
			sum.Seen++
		}
	})
	root := x.root()
	if x.cardReplaced && x.answer.done {
		x.collect(s)
	}
	if root.out == 0 {
		return nil
	}
	if opened, is := s.What.(capture.Opened); is && opened.Client.Name != "" && x.down != nil && x.stays == x.down {
		return w.say(root.out, capture.Fact{Client: x.r.client(x.client, x.agent)})
	}
	fact, is := s.What.(capture.Fact)
	if !is {
		return nil
	}
	kept := capture.Fact{}
	for _, w := range fact.Rewrites {
		if x.cardReplaced && strings.HasPrefix(w.Place, cardPlace) {
			kept.Rewrites = append(kept.Rewrites, w)
		}
	}
	if note := fact.Note; note != "" {
		kept.Note = note
		if !strings.HasPrefix(note, capture.FaultMadeHere) {
			kept.Note = "at " + x.r.Host + ": " + note
		}
	}
	if kept.Note == "" && len(kept.Rewrites) == 0 { // the view that stays has how the sides ended
		return nil
	}
	return w.say(root.out, kept)
}

// cardPlace begins the places of replaced URLs in an agent's description of itself.
const cardPlace = "response.body#"

// collect keeps the answer of an agent in which this recorder replaced URLs.
func (x *exchange) collect(s capture.Step) {
	if x.original == nil {
		x.original = &original{}
	}
	switch what := s.What.(type) {
	case capture.ResponseHead:
		x.original.head = &what
	case capture.ResponseBody:
		x.original.body = append(x.original.body, s)
	case capture.ResponseEnd:
		x.original.end = &what
	}
}

// restored returns the step with the agent's original answer if an inner recorder replaced URLs in it: the capture has
// the agent's answer, and each replacement.
func (w *writer) restored(x *exchange, s capture.Step) []capture.Step {
	if _, is := s.What.(capture.ResponseHead); is && x.answer.done {
		for y := x.down; y != nil && y.root() == x; y = y.down {
			if y.original != nil && y.original.head != nil {
				x.restores = y
			}
		}
	}
	from := x.restores
	if from == nil {
		return []capture.Step{s}
	}
	switch s.What.(type) {
	case capture.ResponseHead:
		s.What, s.Parsed = *from.original.head, nil
	case capture.ResponseBody:
		x.held = append(x.held, s)
		return nil
	case capture.ResponseEnd:
		body := x.held
		if from.original.end != nil {
			body = from.original.body
			w.count(func(sum *Summary) { sum.Folded += uint64(len(x.held)) - uint64(len(body)) })
			s.What, s.Parsed = *from.original.end, nil
		}
		var out []capture.Step
		for _, piece := range body {
			piece.Seq, piece.Offset, piece.Arrival = s.Seq, s.Offset, 0
			out = append(out, piece)
		}
		x.restores, x.held, from.original = nil, nil, nil
		return append(out, s)
	}
	return []capture.Step{s}
}

func (w *writer) append(steps ...capture.Step) error {
	if len(steps) == 0 {
		return nil
	}
	return w.sink.Append(steps...)
}

// say appends a step that no recording has.
func (w *writer) say(seq uint64, what capture.What) error {
	w.count(func(sum *Summary) { sum.Added++ })
	return w.sink.Append(capture.Step{Seq: seq, Offset: capture.NotKnown, What: what})
}

func (w *writer) count(f func(*Summary)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.summary)
}

// A Summary has counts of the merge so far.
type Summary struct {
	Exchanges uint64 // in the merged capture
	Seen      uint64 // views that were folded into those of other recorders
	Lost      int64  // exchanges whose beginning the recordings lack, which were left out
	Steps     uint64 // that were read
	Folded    uint64 // steps of folded views, and of answers that the inner view has more precisely
	Dropped   uint64 // steps of exchanges that were left out
	Added     uint64 // added steps: notes and reports of losses
	Clocks    []Clock
}
