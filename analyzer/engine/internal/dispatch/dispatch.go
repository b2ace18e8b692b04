// Package dispatch passes observations to the rules and the trackers that want them, in the order that analysis.Tracker
// defines, and merges findings with the same cause.
package dispatch

import (
	"iter"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/proxy/a2a"
)

// A Dispatcher passes observations to the rules and trackers of one engine.
type Dispatcher struct {
	rules    []*analysis.Rule
	dialects []a2a.Dialects        // of each rule
	wanting  map[aspect][]wish     // which rules want an observation, computed once for each aspect
	takers   [64][]analysis.State  // indexed by kind, in the order in which they receive observations
	sent     analysis.SentMessages // nil if no tracker knows
	made     []analysis.Observation
	runner   *analysis.Runner
	counter  *tally.Counter
	times    []alike // how often each rule was broken in the current step
	found    []analysis.Finding
	merger   merger
	faults   faults
}

// A Record has facts about the capture as a whole, apart from observations: see the methods of analysis.Pass.
type Record interface {
	RequestMissed() bool
	Lost() int64
	Open() iter.Seq[*analysis.Exchange]
}

// An aspect has the properties of an observation that decide which rules want it.
type aspect struct {
	kind     analysis.Kinds
	binding  a2a.Binding
	dialects a2a.Dialects // for a card, those of its 0.x face
	modern   bool         // a card has the face of 1.0
	card     bool         // it is a card, or looks like one
}

// New returns a dispatcher for the rules, the trackers that they need, and the additional trackers. given has the
// values for each tracker.
func New(
	rules []*analysis.Rule, more []*analysis.Tracker, given map[*analysis.Tracker][]any, record Record,
	counter *tally.Counter,
) *Dispatcher {
	d := &Dispatcher{
		rules: rules, counter: counter, merger: newMerger(rules),
		wanting: make(map[aspect][]wish), times: make([]alike, len(rules)),
	}
	d.runner = analysis.NewRunner(session{record, d}, rules, more, given)
	for t, state := range d.runner.States() {
		for kind := range t.On.Each {
			d.takers[kind.Number()] = append(d.takers[kind.Number()], state)
		}
		if sent, ok := state.(analysis.SentMessages); ok {
			d.sent = sent
		}
	}
	for _, r := range rules {
		d.dialects = append(d.dialects, r.Dialects())
	}
	return d
}

// Beside returns a dispatcher for the same rules that knows only the faults that the recorder injected.
func (d *Dispatcher) Beside(record Record, counter *tally.Counter) *Dispatcher {
	b := New(d.rules, nil, nil, record, counter)
	b.wanting, b.faults = d.wanting, d.faults
	return b
}

// First reports whether a finding in an ended case is the first of its rule and severity in the rule's scope.
func (d *Dispatcher) First(c *Case, f *analysis.Finding) bool { return d.merger.first(c, f, 0, nil) }

// A session implements analysis.Session.
type session struct {
	Record
	d *Dispatcher
}

// Made implements analysis.Session.
func (s session) Made(o analysis.Observation) { s.d.made = append(s.d.made, o) }

// AnswerMissed implements analysis.Session.
func (s session) AnswerMissed(agent string) bool { return s.d.faults.agents[agent] }

// Fault records a fault that the recorder injected into a case; hides is whether the agent's real answer is unknown.
func (d *Dispatcher) Fault(c *Case, hides bool) {
	c.Faulted = true
	d.faults.note(c.X, hides)
}

// Sent returns the message with that id that was sent to the task at the exchange's agent, or nil if no tracker knows
// it.
func (d *Dispatcher) Sent(x *analysis.Exchange, taskID, messageID string) *analysis.SentMessage {
	if d.sent == nil {
		return nil
	}
	return d.sent.Sent(x, taskID, messageID)
}

// Forgotten returns how much the trackers have dropped to bound memory.
func (d *Dispatcher) Forgotten() int {
	n := 0
	for _, state := range d.runner.States() {
		n += state.Forgotten()
	}
	return n
}

// Observe passes an observation in a case to the rules and then to the trackers that want it, followed by the
// observations that these produce. Findings returns the findings once the whole step is known.
func (d *Dispatcher) Observe(c *Case, o *analysis.Observation) {
	if o.Kind&analysis.ForTrackers == 0 {
		d.check(c, o)
	}
	for _, state := range d.takers[o.Kind.Number()] {
		d.runner.Tell(state, o)
	}
	if len(d.made) == 0 {
		return
	}
	made := d.made
	d.made = nil
	for i := range made {
		d.Observe(c, &made[i])
	}
}

// check runs the rules that want the observation.
func (d *Dispatcher) check(c *Case, o *analysis.Observation) {
	wishes := d.wishes(o)
	if len(wishes) == 0 {
		return
	}
	traits, odd := o.Traits()
	var counts tally.Rules // set once there is something to count
	for i := range wishes {
		w := &wishes[i]
		if w.only&^traits != 0 {
			continue
		}
		var found []analysis.Finding
		applied := true
		if w.odd == 0 || w.odd&odd != 0 {
			found, applied = d.run(w, o)
		}
		if !applied {
			continue
		}
		found, stands := d.faults.mayBlame(c, found)
		if !stands {
			continue
		}
		d.keep(w.rule, found)
		if counts == nil {
			counts = d.counter.On(o.Exchange.Link, o.Exchange.Call.Operation)
		}
		counts.Applied(w.rule, len(found) > 0)
		if !c.Judged {
			c.Judged = true
			d.counter.Counts.Judged++
		}
	}
}

// run runs a rule on an observation, unless it is known to find nothing.
func (d *Dispatcher) run(w *wish, o *analysis.Observation) (found []analysis.Finding, applied bool) {
	if o.Quiet == nil || !w.ofCard {
		return d.runner.Check(w.rule, o)
	}
	r := d.rules[w.rule]
	applied, known := o.Quiet[r]
	if known {
		return nil, applied
	}
	if found, applied = d.runner.Check(w.rule, o); len(found) == 0 {
		o.Quiet[r] = applied
	}
	return found, applied
}

// maxAlike bounds the findings of one rule and severity in one step: a message may have a million parts with the same
// error.
const maxAlike = 16

// An alike counts the findings of a rule by severity, up to maxAlike.
type alike [analysis.Error + 1]uint8

// keep stores the findings of a rule, by its number.
func (d *Dispatcher) keep(rule int, found []analysis.Finding) {
	for i := range found {
		if n := &d.times[rule][found[i].Severity]; *n < maxAlike {
			*n++
			d.found = append(d.found, found[i])
		}
	}
}

// Findings returns the findings since the last call. The slice is valid until the next observation. open returns the
// case of an open exchange, or nil.
func (d *Dispatcher) Findings(open func(seq uint64) *Case) []analysis.Finding {
	if len(d.found) == 0 {
		return nil
	}
	clear(d.times)
	found := d.merger.merge(d.found, open)
	d.found = d.found[:0]
	return found
}

// A wish is a rule that wants an observation, by its number, with the properties that decide whether to run it.
type wish struct {
	rule   int
	only   analysis.Traits
	odd    a2a.Oddity
	ofCard bool
}

// wishes returns the rules that want the observation and apply to its dialect and binding.
func (d *Dispatcher) wishes(o *analysis.Observation) []wish {
	key := aspect{kind: o.Kind, binding: o.Exchange.Call.Binding, dialects: o.Dialects}
	holds := func(i int) bool { return key.dialects.Intersect(d.dialects[i]) == key.dialects }
	if o.Kind == analysis.CardSeen || o.Kind == analysis.CardVerified { // a hybrid card is in several dialects at once
		key.dialects, key.modern = o.Card.Legacy, o.Card.Modern
		key.card = !o.Card.Shapes.Empty() || o.Card.Holds(a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0))
		holds = func(i int) bool { return o.Card.Holds(d.dialects[i]) }
	} else if o.Dialects.Empty() {
		return nil
	}
	list, known := d.wanting[key]
	if !known {
		list = d.choose(o.Kind, func(i int) bool { return d.rules[i].Bindings.Has(key.binding) && holds(i) })
		d.wanting[key] = list
	}
	return list
}

func (d *Dispatcher) choose(kind analysis.Kinds, holds func(rule int) bool) []wish {
	var list []wish
	for i, r := range d.rules {
		if r.On&kind != 0 && holds(i) {
			list = append(list, wish{i, r.If, r.Odd, r.OfCard})
		}
	}
	return list
}
