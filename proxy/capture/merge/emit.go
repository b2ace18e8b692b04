package merge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/capture"
)

// An emission is how far the steps of a recording have been written.
type emission struct {
	read      uint64               // arrival number of the last step that was taken
	limit     uint64               // of the last that may be
	due       uint64               // of the last that should have been, whatever it waits for; while it is followed
	exchanges map[uint64]*exchange // by the number there, that have been opened
	opened    []*exchange          // of the summaries, those that are still to be opened, in order
	conns     map[uint64]uint64    // their numbers in the merged capture
	headless  map[uint64]struct{}  // exchanges whose beginning is not there
	missing   int64                // of them, those that were not told yet
	bytes     int64                // that were recorded of them
	time      int64                // of the last step, corrected

	next func() (capture.Step, error, bool)
	stop func()
	head *capture.Step // that comes next; nil if there is none for now
	at   int64         // its time
	x    *exchange     // its exchange; nil if it has none
}

// passed is how far the steps of an exchange have come in the merged order.
type passed struct {
	opened, head, end, closed bool
	blocks                    uint32
}

// An original is the answer of an agent whose card the inner recorder replaced URLs in.
type original struct {
	head *capture.ResponseHead
	body []capture.Step
	end  *capture.ResponseEnd
}

// emit writes steps in their order, as far as they may be. With more, further steps may come, and what waits for them
// is not forced.
func (m *Merger) emit(ctx context.Context, more bool) (err error) {
	for _, r := range m.recorders {
		if !more {
			r.out.limit = r.scanned
		}
		if r.out.read < r.out.limit {
			r.out.next, r.out.stop = iter.Pull2(r.Source.Steps(ctx, r.out.read+1))
		}
	}
	defer func() {
		for _, r := range m.recorders {
			if r.out.stop != nil {
				r.out.stop()
			}
			r.out.next, r.out.stop, r.out.head, r.out.x = nil, nil, nil, nil
		}
	}()
	for {
		r, err := m.first(ctx, more)
		if r == nil || err != nil {
			return err
		}
		s := *r.out.head
		x := r.out.x
		r.out.head, r.out.x = nil, nil
		r.out.read = s.Arrival
		r.out.time = max(r.out.time, r.out.at)
		if err := m.out.write(r, x, s); err != nil {
			return err
		}
	}
}

// first returns the recorder whose next step is the next of all; nil if there is none.
func (m *Merger) first(ctx context.Context, more bool) (*recorder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var free, blocked *recorder
	for _, r := range m.recorders {
		if err := m.peek(r); err != nil {
			return nil, fmt.Errorf("merge %s: %w", r.Name, err)
		}
		if r.out.head == nil {
			continue
		}
		best := &free
		if r.waits(more) {
			best = &blocked
		}
		if *best == nil || r.out.at < (*best).out.at {
			*best = r
		}
	}
	if free == nil && blocked != nil && (!more || blocked.overdue()) {
		free = blocked // nothing could go on: one of the pairs is wrong, or what it waits for was lost
	}
	return free, nil
}

// peek reads the next step of a recorder, if it is not there yet.
func (m *Merger) peek(r *recorder) error {
	out := &r.out
	if out.head != nil || out.next == nil || out.read >= out.limit {
		return nil
	}
	s, err, ok := out.next()
	if err != nil {
		return err
	}
	if !ok {
		out.limit = out.read // there are fewer than there were
		return nil
	}
	if s.Arrival == 0 {
		s.Arrival = out.read + 1
	}
	out.head, out.at = &s, out.time
	if _, is := s.What.(capture.Opened); is && s.Seq != 0 {
		if len(out.opened) == 0 {
			return errors.New("it changed while it was read")
		}
		out.x = out.opened[0]
		out.at = m.clocks.corrected(r.Host, out.x.started)
		return nil
	}
	if out.x = out.exchanges[s.Seq]; out.x != nil && s.Offset != capture.NotKnown {
		out.at = m.clocks.corrected(r.Host, out.x.started+int64(s.Offset))
	}
	return nil
}

// waits reports whether the next step of a recorder must come after one of another.
func (r *recorder) waits(more bool) bool {
	x := r.out.x
	if x == nil {
		return false
	}
	if _, opened := r.out.head.What.(capture.Opened); opened {
		return x.up != nil && !x.up.passed.opened && !(x.up.r.exhausted() && !more)
	}
	y := x.down
	if y == nil || y.apart || y.passed.closed || y.r.exhausted() && !more {
		return false
	}
	switch r.out.head.What.(type) {
	case capture.ResponseHead:
		return !y.passed.head
	case capture.ResponseEvent:
		return y.passed.blocks <= x.passed.blocks && !y.passed.end
	case capture.ResponseEnd:
		return !y.passed.end
	}
	return false
}

// exhausted reports whether nothing that may be written is left of a recording.
func (r *recorder) exhausted() bool { return r.out.head == nil && r.out.read >= r.out.limit }

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
		what.Client = r.client(what.Client)
		in := x.agent.innermost()
		what.Agent.Name, what.Agent.URL = in.label, in.url
		if in != x.agent {
			what.Agent.Addr = ""
		}
		s.What = what
		w.count(func(sum *Summary) { sum.Exchanges++ })
	case capture.Fact:
		if what.Client.Name != "" {
			what.Client = r.client(what.Client)
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

// noteChain says of an exchange that ends which others saw it too.
func (w *writer) noteChain(x *exchange) error {
	if x.up != nil && x.up.stays == x { // a notification
		if err := w.note(x.up); err != nil {
			return err
		}
	}
	for y := x; y.down != nil; y = y.down {
		if y.down.apart {
			break // said when both are there
		}
		if err := w.note(y); err != nil {
			return err
		}
	}
	return nil
}

// fold takes what is to be kept of a step of a view that does not stay.
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
		return w.say(root.out, capture.Fact{Client: x.r.client(opened.Client)})
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
	if kept.Note == "" && len(kept.Rewrites) == 0 {
		return nil
	}
	return w.say(root.out, kept)
}

// cardPlace begins the places of URLs that were replaced in what an agent said of itself.
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

// restored returns the step as it is with the answer that the agent gave, where an inner recorder replaced URLs in it:
// the record has what the agent sent, and each replacement.
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
