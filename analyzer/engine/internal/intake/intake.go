// Package intake turns the steps of a capture into observations: it assembles exchanges, decodes their messages, and
// passes the results to a dispatcher. It tracks the dialects that each address speaks, and counts what it sees.
package intake

import (
	"iter"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/proxy/capture"
)

// A Reader reads the steps of one capture.
type Reader struct {
	observer
	foreign foreign
	open    map[uint64]*openExchange
	spare   []*openExchange // for new exchanges: structs of ended ones
	done    []uint64        // the exchanges that the current step closed
	now     time.Time       // the latest instant of a step
	pauses  []time.Time     // the value of now at the end of each recording that was followed by another
}

// NewReader returns a reader that counts with the counter. Start must be called before the first step.
func NewReader(counter *tally.Counter, hooks *Hooks) *Reader {
	r := &Reader{
		observer: observer{
			bodies: bodies{counter: counter}, hooks: hooks, endpoints: newEndpoints(), shown: newShownCards(),
		},
		open: make(map[uint64]*openExchange),
	}
	r.walker.Visit = r.visit
	return r
}

// Start sets the receiver of observations.
func (r *Reader) Start(to *dispatch.Dispatcher) { r.dispatcher = to }

// Beside returns a reader of some of the exchanges that r has read; missed means that one of them is missing. Gaps
// known to r are gaps for it, too.
func (r *Reader) Beside(counter *tally.Counter, hooks *Hooks, missed bool) *Reader {
	b := NewReader(counter, hooks)
	b.missed, b.gaps, b.counter.Counts.Lost = r.missed || missed, r.gaps, r.counter.Counts.Lost
	b.foreign = foreign{kept: r.foreign.kept, looked: true}
	return b
}

// Named reports whether a card names the interface for requests to the address.
func (r *Reader) Named(address string) bool { return r.endpoints.named(address) }

// Place fills in the known facts about a call's endpoint now.
func (r *Reader) Place(c *dispatch.Case) { r.endpoints.place(c) }

// RequestMissed implements dispatch.Record.
func (r *Reader) RequestMissed() bool { return r.missed }

// Lost implements dispatch.Record.
func (r *Reader) Lost() int64 { return capture.AddLost(r.counter.Counts.Lost, r.gaps) }

// Open implements dispatch.Record.
func (r *Reader) Open() iter.Seq[*analysis.Exchange] {
	return func(yield func(*analysis.Exchange) bool) {
		for _, in := range r.open {
			if !yield(in.X) {
				return
			}
		}
	}
}

// Case returns the case of an open exchange, or nil.
func (r *Reader) Case(seq uint64) *dispatch.Case {
	if in := r.open[seq]; in != nil {
		return &in.Case
	}
	return nil
}

// Forgotten returns how many endpoints were dropped to bound memory.
func (r *Reader) Forgotten() int { return r.endpoints.forgotten() }

func (r *Reader) newExchange() *openExchange {
	n := len(r.spare)
	if n == 0 {
		return &openExchange{}
	}
	in := r.spare[n-1]
	r.spare = r.spare[:n-1]
	return in
}

// tick records the time of a step.
func (r *Reader) tick(at time.Time) {
	if at.After(r.now) {
		r.now = at
	}
}

// ended counts an exchange that has ended.
func (r *Reader) ended(in *openExchange) {
	r.counter.Ended(in.X.Seq)
	s := in.summary()
	r.counter.Over(&s)
	r.hooks.ended(s)
}

// faultMade records that the recorder injected a fault into an answer.
func (r *Reader) faultMade(in *openExchange, what string) {
	made := faultNamed(what)
	switch {
	case !in.made.is():
		r.counter.Counts.Made++
	case in.made.kind != "held" || !made.hides(): // a held request may have an edited answer
		return
	}
	in.made = made
	hides := in.made.hides() || in.made.ends()
	r.missed = r.missed || hides // whether the agent received it is unknown or irrelevant
	r.dispatcher.Fault(&in.Case, hides)
}
