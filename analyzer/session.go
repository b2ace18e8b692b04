package analyzer

import (
	"time"

	"a2atap/analyzer/a2a"
)

// Bounds of what a session remembers. What goes beyond is forgotten, least recently used first.
const (
	maxTasks     = 50_000
	maxEndpoints = 10_000
	maxHooks     = 10_000
	maxCards     = 1_000
	maxMessages  = 16 // message ids kept for each task
)

// A Session is what the traffic so far has shown. A rule reads it as it was before the observation at hand.
type Session struct {
	tasks     *recent[taskKey, *Task]
	endpoints *recent[endpointKey, *Endpoint]
	hooks     *recent[string, *Hook]
	cards     *recent[cardKey, *Card]
	homes     *recent[string, string] // interface URL → the URL that stands for its agent
}

func newSession() *Session {
	return &Session{
		tasks:     newRecent[taskKey, *Task](maxTasks),
		endpoints: newRecent[endpointKey, *Endpoint](maxEndpoints),
		hooks:     newRecent[string, *Hook](maxHooks),
		cards:     newRecent[cardKey, *Card](maxCards),
		homes:     newRecent[string, string](maxEndpoints),
	}
}

// Forgotten returns how many tasks, endpoints, webhooks and cards were dropped to bound memory.
func (s *Session) Forgotten() int {
	return s.tasks.forgotten + s.endpoints.forgotten + s.hooks.forgotten + s.cards.forgotten
}

// A taskKey identifies a task: ids are unique for an agent and a tenant.
type taskKey struct{ agent, tenant, id string }

// A Task is what is known of one task.
type Task struct {
	ID       string
	Context  *ContextSighting // the first context it was seen with; nil if none
	Last     *Sighting        // the newest sighting by arrival
	Terminal *Sighting        // the first sighting in a terminal state; nil if there was none
	Created  *Creation        // the send that brought it into being, if that was seen
	Sent     []string         // ids of the messages sent to it, newest last, bounded
	Denied   *Denial          // a subscription that was told the ended task is not found; nil once that was judged
}

// A Denial is an answer that said a task is not found, although it was known to have ended.
type Denial struct {
	Exchange *Exchange
	Place    Place
	seen     Sighting // when it was delivered
}

// Before reports whether the denial had been delivered before the exchange began, and was for the same client: with the
// same credentials.
func (d *Denial) Before(x *Exchange) bool {
	return x.beganAfter(&d.seen) && d.Exchange.principal() == x.principal()
}

// WasSent reports whether a message with that id was sent to the task before.
func (t *Task) WasSent(messageID string) bool {
	for _, id := range t.Sent {
		if id == messageID {
			return messageID != ""
		}
	}
	return false
}

// A Creation is a send without a task id that was answered with a task.
type Creation struct {
	Place     Place
	MessageID string
	ContextID string // that the client sent; empty if none
}

// A Sighting is one look at a task's state.
type Sighting struct {
	Place     Place
	Exchange  uint64
	Arrival   uint64    // of the step that completed its delivery
	At        time.Time // when that happened; zero if not known
	TaskID    string
	ContextID string    // empty if the object named none
	State     a2a.State // the zero State if it named none that is known
	Spelling  string    // of the state, as on the wire
	Snapshot  bool      // a whole Task, not an update
	Late      bool      // it may be older than its arrival: a webhook's retry, a replay of a 0.x resubscription
	Context   Place     // of the context id
	ID        Place     // of the task id
}

// After reports whether what was sighted in exchange x is surely younger than an earlier sighting: it came later in one
// stream, or in an exchange that began when the other had been delivered. A late sighting counts as younger, since it is
// only compared where order does not matter.
func (s *Sighting) After(earlier *Sighting, x *Exchange) bool {
	return s.Late || s.Exchange == earlier.Exchange || x.beganAfter(earlier)
}

// A ContextSighting is one look at the context of a task.
type ContextSighting struct {
	ID    string
	Place Place
}

// An endpointKey identifies where calls of one binding go.
type endpointKey struct {
	url     string
	binding a2a.Binding
}

// An Endpoint is a URL and binding of an agent, and what is known of the dialects there.
type Endpoint struct {
	URL      string
	Binding  a2a.Binding
	Declared a2a.Dialects // by cards; empty if no card names it
	Answered a2a.Dialects // in which calls succeeded here

	reported map[string]bool // rules that report once an endpoint and have
}

// A cardKey identifies a card: where it was fetched, and for whom.
type cardKey struct {
	url      string
	extended bool
	version  string // of the request that fetched it: one URL may hold two shapes
}

// A Card is an agent card as it was last seen, before any rewriting.
type Card struct {
	a2a.Card
	URL      string // it was fetched from
	Place    Place
	Extended bool
	Arrival  uint64 // of the step that completed its delivery
	At       time.Time
}

// A Hook is a webhook URL that a client gave to an agent.
type Hook struct {
	URL     string
	Agent   string
	Dialect a2a.Dialects // of the request that configured it
	Place   Place
}

// Task returns what is known of an agent's task, or nil.
func (s *Session) Task(agent, tenant, id string) *Task {
	t, _ := s.tasks.get(taskKey{agent, tenant, id})
	return t
}

// TaskOf returns what is known of the task with that id at the agent that the exchange went to, or nil.
func (s *Session) TaskOf(x *Exchange, id string) *Task { return s.Task(x.agent, x.Call.Tenant, id) }

// Hook returns the webhook configured with that URL, or nil.
func (s *Session) Hook(url string) *Hook {
	h, _ := s.hooks.get(url)
	return h
}

// CardsBefore returns the cards that name the exchange's endpoint among their interfaces and had been delivered before
// the exchange began, newest last.
func (s *Session) CardsBefore(x *Exchange) []*Card {
	var found []*Card
	for c := range s.cards.all() {
		before := x.beganAfter(&Sighting{Arrival: c.Arrival, At: c.At})
		if before && !c.DialectsFor(x.callURL(), x.Call.Binding).Empty() {
			found = append(found, c)
		}
	}
	return found
}

// Versioned reports whether a card that names the exchange's endpoint says which version it is of.
func (s *Session) Versioned(x *Exchange) bool {
	for c := range s.cards.all() {
		if !c.DialectsFor(x.callURL(), x.Call.Binding).Empty() && c.Get("protocolVersion").Text() != "" {
			return true
		}
	}
	return false
}
