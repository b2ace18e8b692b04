package analysis

import "fmt"

// A Tracker remembers what the traffic has shown about one subject, such as tasks or push notification configs, for the
// rules and the other trackers that need it. Trackers are values, like rules. Each engine creates its own State of
// every tracker that one of its rules needs directly or indirectly.
//
// The engine uses one order. It passes each observation to the rules that want it, in the order of the list. Then it
// passes the observation to the trackers that want it, in the order of their names, but each after those that it needs.
// So a rule sees every state from before the observation, and a tracker sees the states that it needs from after it.
// Observations that trackers make (Pass.Observe) follow once all have received the original one.
type Tracker struct {
	Name  string               // its package, such as "task"
	Doc   string               // its contents, in half a line
	Needs []*Tracker           // the trackers whose states it reads
	On    Kinds                // the observations that it receives
	Makes Kinds                // the observations that only this tracker makes
	New   func(s *Setup) State // called once for each engine
}

// A State is a tracker's memory in one engine. Only the goroutine of the engine may use it. Its memory is bounded.
type State interface {
	// Take receives an observation that the tracker wants, after the rules have received it. The pass and everything it
	// refers to, except the exchange, is valid only during the call.
	Take(p *Pass)

	// Forgotten returns the number of entries dropped to bound memory, as counted by Counts.
	Forgotten() int
}

// A SentMessages is a State that knows which messages were sent to a task. Messages that an agent repeats unchanged are
// not observed again.
type SentMessages interface {
	// Sent returns the message with that id that was sent to the task at the exchange's agent, or created the task, or
	// nil.
	Sent(x *Exchange, taskID, messageID string) *SentMessage
}

// A Setup gives a new state access to its engine.
type Setup struct {
	needs states
	given []any
	slots *int
}

// State returns the state of a tracker that the current one names among its needs; it panics for any other tracker.
func (s *Setup) State(t *Tracker) State { return s.needs.of(t) }

// Given returns the values that the engine gives to the tracker, in order: see engine.Give.
func (s *Setup) Given() []any { return s.given }

// A Slot stores one tracker's facts about each exchange. It is created in Tracker.New and is valid for that engine.
type Slot[T any] struct {
	index int
	slots *int // how many there are
}

// NewSlot returns a new slot.
func NewSlot[T any](s *Setup) Slot[T] {
	*s.slots++
	return Slot[T]{*s.slots - 1, s.slots}
}

// Of returns the value stored for an exchange, or the zero T.
func (s Slot[T]) Of(x *Exchange) (value T) {
	if x.slots != nil {
		value, _ = x.slots[s.index].(T)
	}
	return value
}

// Put stores a value for an exchange.
func (s Slot[T]) Put(x *Exchange, value T) {
	if x.slots == nil {
		x.slots = make([]any, *s.slots)
	}
	x.slots[s.index] = value
}

// states are the states that a rule or a tracker may use: those of the trackers among its needs.
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
	panic(fmt.Sprintf("analyzer: the tracker %s is used without being listed in Needs", t.Name))
}
