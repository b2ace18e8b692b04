package analyzer

import (
	"cmp"
	"fmt"
	"slices"
)

// A Tracker remembers what the traffic has shown of one thing, such as tasks or push notification configs, for the
// rules and the other trackers that need it. Trackers are values, as rules are; each engine makes a State of its own of
// every tracker that one of its rules needs, directly or through another one.
//
// The engine has one order. It gives each observation to the rules that want it, in the order of the list, and then to
// the trackers that want it, in the order of their names but each after those that it needs. So a rule reads every
// state as it was before the observation, and a tracker reads the states that it needs as they are after it. What
// trackers observe themselves (Pass.Observe) follows when all have taken what they made it of.
type Tracker struct {
	Name  string               // such as "task": the package that it stands in
	Doc   string               // what it remembers, in half a line
	Needs []*Tracker           // those whose states it reads
	On    Kinds                // the observations that it takes
	Makes Kinds                // the observations that it makes: nobody else does
	New   func(s *Setup) State // called once for each engine
}

// A State is what a tracker remembers in one engine, for the goroutine of the engine. Its memory is bounded.
type State interface {
	// Take takes an observation that the tracker wants, after the rules have. The pass, and what it refers to apart
	// from the exchange, is valid during the call only.
	Take(p *Pass)

	// Forgotten returns how much was dropped to bound memory, as far as Counts counts it.
	Forgotten() int
}

// A SentMessages is a State that knows which messages were sent to a task. Where an agent tells them again as they were,
// they are not observed again.
type SentMessages interface {
	// Sent returns the message with that id that was sent to the task with that id at the exchange's agent, or brought
	// it into being; nil if none was.
	Sent(x *Exchange, taskID, messageID string) *SentMessage
}

// A Setup is what a tracker may ask of an engine when its state is made.
type Setup struct {
	engine *Engine
	needs  asks
	given  []any
}

// State returns the state of a tracker that the one at hand names among its needs; of another one it panics.
func (s *Setup) State(t *Tracker) State { return s.needs.of(t) }

// Given returns what options gave to the tracker, in their order: see Give.
func (s *Setup) Given() []any { return s.given }

// An EngineOption changes what an engine judges with.
type EngineOption func(*Engine)

// Give returns an option that gives a value to a tracker, which finds it in its Setup. It has no effect if no rule
// needs the tracker.
func Give(to *Tracker, value any) EngineOption {
	return func(e *Engine) { e.given[to] = append(e.given[to], value) }
}

// With returns an option that makes the state of a tracker although perhaps no rule needs it, for whoever wants what it
// tells and no findings.
func With(t *Tracker) EngineOption {
	return func(e *Engine) { e.asked = append(e.asked, t) }
}

// A Slot is a place beside each exchange, for what one tracker knows of it. It is made in Tracker.New and holds for
// that engine.
type Slot[T any] struct {
	index  int
	engine *Engine
}

// NewSlot returns a slot of its own.
func NewSlot[T any](s *Setup) Slot[T] {
	s.engine.slots++
	return Slot[T]{s.engine.slots - 1, s.engine}
}

// Of returns what was put beside an exchange, or the zero T.
func (s Slot[T]) Of(x *Exchange) (value T) {
	if x.slots != nil {
		value, _ = x.slots[s.index].(T)
	}
	return value
}

// Put puts a value beside an exchange.
func (s Slot[T]) Put(x *Exchange, value T) {
	if x.slots == nil {
		x.slots = make([]any, s.engine.slots)
	}
	x.slots[s.index] = value
}

// asks are the states that a rule or a tracker may ask for.
type asks struct {
	trackers []*Tracker
	states   []State
}

func (a *asks) of(t *Tracker) State {
	for i, named := range a.trackers {
		if named == t {
			return a.states[i]
		}
	}
	panic(fmt.Sprintf("analyzer: the tracker %s is asked by what does not name it among its needs", t.Name))
}

// order returns the trackers that rules need, directly or through another one, and some more: in the order of their
// names, but each after those that it needs.
func order(rules []*Rule, more ...*Tracker) []*Tracker {
	var list []*Tracker
	seen := make(map[*Tracker]bool)
	var add func(needs []*Tracker)
	add = func(needs []*Tracker) {
		named := slices.DeleteFunc(slices.Clone(needs), func(t *Tracker) bool { return t == nil })
		slices.SortStableFunc(named, func(a, b *Tracker) int { return cmp.Compare(a.Name, b.Name) })
		for _, t := range named {
			if !seen[t] {
				seen[t] = true
				add(t.Needs)
				list = append(list, t)
			}
		}
	}
	needs := slices.Clone(more)
	for _, r := range rules {
		for _, t := range r.Needs {
			if !slices.Contains(needs, t) {
				needs = append(needs, t)
			}
		}
	}
	add(needs)
	return list
}

// start makes the states of the trackers that the rules need, or that somebody asked for.
func (e *Engine) start() {
	byTracker := make(map[*Tracker]State)
	asking := func(needs []*Tracker, states []State) asks {
		for i, t := range needs {
			states[i] = byTracker[t]
		}
		return asks{needs, states}
	}
	for _, t := range order(e.rules, e.asked...) {
		state := t.New(&Setup{e, asking(t.Needs, make([]State, len(t.Needs))), e.given[t]})
		byTracker[t] = state
		e.states = append(e.states, state)
		for kind := range t.On.each {
			i := kind.number()
			e.takers[i] = append(e.takers[i], state)
		}
		if sent, ok := state.(SentMessages); ok {
			e.sent = sent
		}
	}
	needs := 0
	for _, r := range e.rules {
		needs += len(r.Needs)
	}
	states := make([]State, needs)
	e.asks = make([]asks, len(e.rules))
	for i, r := range e.rules {
		n := len(r.Needs)
		e.asks[i] = asking(r.Needs, states[:n:n])
		states = states[n:]
	}
}

// take gives an observation to the trackers that want it, and then observes what they have made of it.
func (e *Engine) take(in *intake, o *Observation) {
	p := &e.pass
	p.Observation, p.Rule, p.asks = o, nil, &e.none
	for _, state := range e.takers[o.Kind.number()] {
		state.Take(p)
	}
	if len(e.made) == 0 {
		return
	}
	made := e.made
	e.made = nil
	for i := range made {
		e.observe(in, &made[i])
	}
}
