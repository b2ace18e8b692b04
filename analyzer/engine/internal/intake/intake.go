// Package intake makes observations of the steps of a capture: it puts exchanges together, decodes what they say, and
// gives what it has understood to a dispatcher. It knows what is spoken at which address, and counts what it sees.
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
	spare   []*openExchange // for exchanges that open: of those that are over
	done    uint64          // the exchange that the step at hand closed; 0 if it closed none
	now     time.Time       // the latest instant of a step
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

// Start says where observations go.
func (r *Reader) Start(to *dispatch.Dispatcher) { r.dispatcher = to }

// Beside returns a reader of a few of the exchanges that r has read; missed says that one is missing among them. What
// r knows to be missing is missing for it, too.
func (r *Reader) Beside(counter *tally.Counter, hooks *Hooks, missed bool) *Reader {
	b := NewReader(counter, hooks)
	b.missed, b.gaps, b.counter.Counts.Lost = r.missed || missed, r.gaps, r.counter.Counts.Lost
	b.foreign = foreign{kept: r.foreign.kept, looked: true}
	return b
}

// Named reports whether a card names an interface to which a request to the address would go.
func (r *Reader) Named(address string) bool { return r.endpoints.named(address) }

// Place fills what is known of the endpoint of a call now.
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

// Case returns the case of an exchange that is not over, or nil.
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

// tick notes the instant of a step.
func (r *Reader) tick(at time.Time) {
	if at.After(r.now) {
		r.now = at
	}
}

// ended counts an exchange of which nothing more comes.
func (r *Reader) ended(in *openExchange) {
	r.counter.Ended(in.sending)
	in.sending = analysis.Link{}
	s := in.summary()
	r.counter.Over(&s)
	r.hooks.ended(s)
}

// faultMade notes that the recorder made a fault in an answer.
func (r *Reader) faultMade(in *openExchange, what string) {
	made := faultNamed(what)
	switch {
	case !in.made.is():
		r.counter.Counts.Made++
	case in.made.kind != "held" || !made.hides(): // a request that was held may have an answer that was edited
		return
	}
	in.made = made
	hides := in.made.hides() || in.made.ends()
	r.missed = r.missed || hides // whether the agent has got it is not known, or of no use
	r.dispatcher.Fault(&in.Case, hides)
}
