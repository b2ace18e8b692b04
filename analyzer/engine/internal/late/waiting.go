package late

import (
	"bytes"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/capture"
)

// Bounds of the exchanges that wait for cards. Only the first exchanges of an agent wait; the rest are not checked
// again.
const (
	maxUncarded   = 500     // agents
	maxExchanges  = 64      // of each
	maxAgentBytes = 1 << 20 // of each
	maxBytes      = 4 << 20 // of all of them
)

// maxLateness is the maximum time between the start of an exchange and its late card. Over a longer time, the agent may
// have been replaced.
const maxLateness = time.Hour

// waiting has the traffic of agents whose card is unknown.
type waiting struct {
	agents *recent.Map[string, *uncarded] // by name
	open   map[uint64]*uncarded           // by number of an open exchange
	bytes  int
}

// An uncarded is an agent whose card is unknown, and its traffic, in order.
type uncarded struct {
	steps     []capture.Step
	exchanges map[uint64]*exchange
	bytes     int
	holed     bool // some of it no longer waits
}

// An exchange waits for a card.
type exchange struct {
	address string
	began   time.Time
	open    bool
	bytes   int
}

func newWaiting() waiting {
	return waiting{agents: recent.New[string, *uncarded](maxUncarded), open: make(map[uint64]*uncarded)}
}

// at returns the agent of that name; nil if it has no waiting exchanges.
func (w *waiting) at(name string) *uncarded {
	a, _ := w.agents.Get(name)
	return a
}

// has reports whether an exchange of an agent waits for a card.
func (w *waiting) has(agent string, seq uint64) bool {
	a := w.at(agent)
	return a != nil && a.exchanges[seq] != nil
}

// begin makes a new exchange wait, if the bounds allow it.
func (w *waiting) begin(x *analysis.Exchange) {
	a := w.at(x.Link.Agent)
	if a == nil {
		a = &uncarded{exchanges: make(map[uint64]*exchange)}
		if old, ok := w.agents.Put(x.Link.Agent, a); ok {
			w.dropAll(old)
		}
	}
	if len(a.exchanges) == maxExchanges {
		w.drop(a, a.old(x.Started))
	}
	if len(a.exchanges) < maxExchanges {
		a.exchanges[x.Seq] = &exchange{address: x.Address, began: x.Started, open: true}
		w.open[x.Seq] = a
	}
}

// old returns the exchanges that began too long ago, if the first one did.
func (a *uncarded) old(now time.Time) map[uint64]*exchange {
	if len(a.steps) == 0 || !a.exchanges[a.steps[0].Seq].tooOld(now) {
		return nil
	}
	old := make(map[uint64]*exchange)
	for seq, e := range a.exchanges {
		if e.tooOld(now) {
			old[seq] = e
		}
	}
	return old
}

func (e *exchange) tooOld(now time.Time) bool {
	return !e.began.IsZero() && !now.IsZero() && now.Sub(e.began) > maxLateness
}

// add adds a step of a waiting exchange. If the step does not fit, the least recently called agent is forgotten; if
// that does not help, the exchange no longer waits.
func (w *waiting) add(s capture.Step) {
	a := w.open[s.Seq]
	if a == nil {
		return
	}
	s = owned(s)
	n := sizeOf(s.What)
	a.exchanges[s.Seq].bytes += n
	a.bytes += n
	w.bytes += n
	a.steps = append(a.steps, s)
	if _, closed := s.What.(capture.Closed); closed {
		a.exchanges[s.Seq].open = false
		delete(w.open, s.Seq)
	}
	if w.bytes > maxBytes {
		w.forgetOldest(a)
	}
	if a.bytes > maxAgentBytes || w.bytes > maxBytes {
		w.drop(a, map[uint64]*exchange{s.Seq: a.exchanges[s.Seq]})
	}
}

// named returns the exchanges whose interface a card names that was fetched at an instant.
func (a *uncarded) named(named func(address string) bool, at time.Time) map[uint64]*exchange {
	list := make(map[uint64]*exchange)
	for seq, e := range a.exchanges {
		if named(e.address) && !e.tooOld(at) {
			list[seq] = e
		}
	}
	return list
}

// forget drops all waiting exchanges of the agent of that name.
func (w *waiting) forget(name string) {
	if a := w.at(name); a != nil {
		w.dropAll(a)
		w.agents.Delete(name)
	}
}

// forgetOldest forgets the least recently called agent, except the current one.
func (w *waiting) forgetOldest(but *uncarded) {
	for name, a := range w.agents.All() {
		if a != but {
			w.forget(name)
		}
		return
	}
}

func (w *waiting) dropAll(a *uncarded) { w.drop(a, a.exchanges) }

// drop drops waiting exchanges of an agent.
func (w *waiting) drop(a *uncarded, these map[uint64]*exchange) {
	if len(these) == 0 {
		return
	}
	a.holed = true
	a.steps = slices.DeleteFunc(a.steps, func(s capture.Step) bool { return these[s.Seq] != nil })
	for seq, e := range these {
		a.bytes -= e.bytes
		w.bytes -= e.bytes
		delete(w.open, seq)
		delete(a.exchanges, seq)
	}
}

// owned returns a step with its own copy of bytes, since the steps of a capture share a block.
func owned(s capture.Step) capture.Step {
	s.Parsed, s.Keys = nil, nil
	switch what := s.What.(type) {
	case capture.Opened:
		what.Head = bytes.Clone(what.Head)
		s.What = what
	case capture.RequestBody:
		what.Data = bytes.Clone(what.Data)
		s.What = what
	case capture.ResponseHead:
		what.Head = bytes.Clone(what.Head)
		s.What = what
	case capture.ResponseBody:
		what.Data = bytes.Clone(what.Data)
		s.What = what
	case capture.ResponseEvent:
		what.Event.Raw = bytes.Clone(what.Event.Raw)
		s.What = what
	}
	return s
}

// sizeOf returns the approximate memory size of a step.
func sizeOf(what capture.What) int {
	const own = 200
	switch what := what.(type) {
	case capture.Opened:
		return own + len(what.Head)
	case capture.RequestBody:
		return own + len(what.Data)
	case capture.ResponseHead:
		return own + len(what.Head)
	case capture.ResponseBody:
		return own + len(what.Data)
	case capture.ResponseEvent:
		return own + len(what.Event.Raw)
	}
	return own
}
