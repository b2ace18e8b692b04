package analysis

import "fmt"

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
	needs states
	given []any
	slots *int
}

// State returns the state of a tracker that the one at hand names among its needs; of another one it panics.
func (s *Setup) State(t *Tracker) State { return s.needs.of(t) }

// Given returns what the engine was told to give to the tracker, in order: see engine.Give.
func (s *Setup) Given() []any { return s.given }

// A Slot is a place beside each exchange, for what one tracker knows of it. It is made in Tracker.New and holds for
// that engine.
type Slot[T any] struct {
	index int
	slots *int // how many there are
}

// NewSlot returns a slot of its own.
func NewSlot[T any](s *Setup) Slot[T] {
	*s.slots++
	return Slot[T]{*s.slots - 1, s.slots}
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
		x.slots = make([]any, *s.slots)
	}
	x.slots[s.index] = value
}

// states are those that a rule or a tracker may ask for: of the trackers that it names among its needs.
type states struct {
	trackers []*Tracker
	each     []State
}

func (s *states) of(t *Tracker) State {
	for i, named := range s.trackers {
		if named == t {
			return s.each[i]
		}
	}
	panic(fmt.Sprintf("analyzer: the tracker %s is asked by what does not name it among its needs", t.Name))
}
