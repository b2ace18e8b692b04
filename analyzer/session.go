package analyzer

import (
	"hash/maphash"
	"slices"
	"time"

	"a2atap/proxy/a2a"
)

// Bounds of what a session remembers. What goes beyond is forgotten, least recently used first.
const (
	maxTasks      = 50_000
	maxEndpoints  = 10_000
	maxHooks      = 10_000
	maxCards      = 1_000
	maxRefusals   = 5_000 // of operations on tasks, and as many tasks that were shown or not found
	maxFetches    = 1_000
	maxInterfaces = 100 // of a card
	maxMessages   = 16  // message ids kept for each task
	maxReferences = 16  // task ids that a message refers to
	maxPieces     = 64  // artifacts of a stream
	maxArtifacts  = 16  // artifacts that a task made
	maxRuns       = 4   // streams of a task that are compared
	maxUpdates    = 128 // updates of a stream that are compared, the newest ones
)

// A Session is what the traffic so far has shown. A rule reads it as it was before the observation at hand.
type Session struct {
	tasks     *recent[taskKey, *Task]
	endpoints *recent[endpointKey, *Endpoint]
	hooks     *recent[string, *hook]
	homes     *recent[string, home]
	pushes    *recent[taskKey, *Pushes]
	origins   *recent[string, *origin]
	refusals  *recent[refusalKey, *Refusal]
	shown     *recent[showingKey, *Showing]
	absent    *recent[taskKey, *Absence]
	digester  a2a.Digester
	unserved  *recent[string, *CardFailure]
	cards     *cards
	seed      maphash.Seed // of the numbers that stand for credentials
	blind     bool         // a request was not recorded that may have configured a webhook
	fetches   *fetches
	keys      *keyring

	pages       *recent[uint64, *page]
	pagesMissed bool // an answer that may lead to a further page was not read
	tokens      *recent[uint64, *TokenUse]
	sayings     *recent[digest, saying]
}

func newSession() *Session {
	return &Session{
		tasks:     newRecent[taskKey, *Task](maxTasks),
		endpoints: newRecent[endpointKey, *Endpoint](maxEndpoints),
		hooks:     newRecent[string, *hook](maxHooks),
		homes:     newRecent[string, home](maxEndpoints),
		pushes:    newRecent[taskKey, *Pushes](maxPushes),
		origins:   newRecent[string, *origin](maxEndpoints),
		refusals:  newRecent[refusalKey, *Refusal](maxRefusals),
		shown:     newRecent[showingKey, *Showing](maxRefusals),
		absent:    newRecent[taskKey, *Absence](maxRefusals),
		digester:  a2a.NewDigester(),
		unserved:  newRecent[string, *CardFailure](maxCards),
		cards:     newCards(maxCards),
		seed:      maphash.MakeSeed(),
		fetches:   newFetches(maxFetches),
		keys:      newKeyring(),

		pages:   newRecent[uint64, *page](maxPages),
		tokens:  newRecent[uint64, *TokenUse](maxTokens),
		sayings: newRecent[digest, saying](maxSayings),
	}
}

// Forgotten returns how many tasks, endpoints, webhooks and cards were dropped to bound memory.
func (s *Session) Forgotten() int {
	return s.tasks.forgotten + s.endpoints.forgotten + s.hooks.forgotten + s.pushes.forgotten + s.cards.recent.forgotten +
		s.fetches.recent.forgotten
}

// A taskKey identifies a task: ids are unique for an agent and a tenant.
type taskKey struct{ agent, tenant, id string }

// A Task is what is known of one task.
type Task struct {
	ID       string
	debut    uint64           // the exchange that showed it first
	Context  *ContextSighting // the first context it was seen with; nil if none
	Last     *Sighting        // the newest sighting of a state, by arrival
	Terminal *Sighting        // the first sighting in a terminal state; nil if there was none
	Created  *Creation        // the send that brought it into being, if that was seen
	First    *Sighting        // the first look at it that an answer gave; nil if there was none
	Refused  *Denial          // a stream that was refused as not supported; nil once that was judged
	Moved    bool             // it was seen in another context than the first
	Denied   *Denial          // a subscription that was told the ended task is not found; nil once that was judged

	Reopened bool          // a message went to it when it had ended, or may have
	Canceled *Cancellation // of it when it was known to have ended; nil if there was none
	Awaited  *Product      // of a send that waited for it; nil once another answer showed more
	Shown    *Product      // of the newest Task that shows artifacts, once it has ended
	Streamed *Product      // of the stream that showed its end; nil once it was compared
	Streams  []*Updates    // streams that run or ran at the same time
	Left     *Departure    // the client that left one of its streams last

	stamp   time.Time // of its status, when it was last seen
	stamped Moment    // when that timestamp was first seen
	ending  uint64    // for whom Terminal was

	finder   Principal // for whom First was; 0 if that did not show
	shared   bool      // another stream of it was asked for while one was open
	inflight uint64    // the send to it that has not shown it yet
	sent     []string  // ids of the messages sent to it, newest last, bounded
}

// WasSent reports whether a message with that id was sent to the task before, or brought it into being.
func (t *Task) WasSent(messageID string) bool {
	return messageID != "" && slices.Contains(t.sent, messageID)
}

func (t *Task) remember(messageID string) {
	if messageID == "" || slices.Contains(t.sent, messageID) {
		return
	}
	if len(t.sent) == maxMessages {
		t.sent = slices.Delete(t.sent, 0, 1)
	}
	t.sent = append(t.sent, messageID)
}

// A Denial is an answer that has to be judged by what comes later: it said that an ended task is not found, or that the
// agent does not stream.
type Denial struct {
	Exchange *Exchange // without its bodies
	Place    Place
	seen     Sighting // when it was delivered
}

// Before reports whether the denial had been delivered before the exchange began, and was for the same client with the
// same credentials.
func (d *Denial) Before(x *Exchange) bool {
	return x.beganAfter(&d.seen) && d.Exchange.Link == x.Link && d.Exchange.Principal() == x.Principal()
}

// A Creation is a send without a task id that was answered with a task.
type Creation struct {
	Place      Place
	MessageID  string
	ContextID  string   // that the client sent; empty if none
	References []string // tasks that the message refers to
}

// A Sighting is one look at a task's state.
type Sighting struct {
	Object    Place // of the Task or of the update that names it
	Snapshot  bool  // it is a whole Task, not an update
	Exchange  uint64
	Arrival   uint64    // of the step that completed its delivery
	At        time.Time // when that happened; zero if not known
	TaskID    string
	ContextID string    // empty if the object named none
	State     a2a.State // the zero State if it named none that is known
	Spelling  string    // of the state, as on the wire
	Event     bool      // it came in a stream or a notification, not in an answer
	viewer    digest    // who was shown it
	Late      bool      // it may be older than its arrival: a webhook's retry, a replay of a 0.x resubscription

	idNamed bool // an update calls the task's id "id", as in 0.1

	Stamp time.Time // of a snapshot's status, as the agent says; zero if it says none
}

// StatePlace returns the place of the state, or of the object where it has none.
func (s *Sighting) StatePlace() Place {
	if s.Spelling == "" {
		return s.Object
	}
	return s.Object.In("status", "state")
}

// ContextPlace returns the place of the context id.
func (s *Sighting) ContextPlace() Place { return s.Object.In("contextId") }

// IDPlace returns the place of the task id of a snapshot.
func (s *Sighting) IDPlace() Place { return s.Object.In("id") }

// After reports whether what was sighted in exchange x is surely younger than an earlier sighting: it came later in one
// stream, or in an exchange that began when the other had been delivered. A late sighting counts as younger, since it is
// only compared where order does not matter.
func (s *Sighting) After(earlier *Sighting, x *Exchange) bool {
	return s.Late || s.Exchange == earlier.Exchange || x.beganAfter(earlier)
}

// Delivered reports whether the exchange surely began after what was sighted had been delivered.
func (s *Sighting) Delivered(x *Exchange) bool { return x.beganAfter(s) }

// ShownTo reports whether the sighting was shown to the client of the exchange, with the same credentials.
func (s *Sighting) ShownTo(x *Exchange) bool { return s.viewer == x.viewer() }

// A ContextSighting is one look at the context of a task.
type ContextSighting struct {
	ID    string
	Place Place
}

// An endpointKey identifies where calls of one binding go.
type endpointKey struct {
	address string
	binding a2a.Binding
}

// An Endpoint is a URL and binding of an agent, and what is known of the dialects there.
type Endpoint struct {
	URL      string // as it was first asked
	Binding  a2a.Binding
	Declared a2a.Dialects // by cards; empty if no card names it
	Answered a2a.Dialects // in which calls succeeded here

	reported map[string]bool // rules that report once an endpoint and have
}

// Is reports whether a URL is that of the endpoint, as the session compares.
func (e *Endpoint) Is(url string) bool { return address(e.URL) == address(url) }

// A home is what the tasks made at an interface are filed under: one name for all interfaces of a card.
type home struct {
	name   string
	origin string // from which the card came that says so
}

// An origin is a scheme, host and port, and what was said of it.
type origin struct {
	served   bool            // a card came from it
	spoken   a2a.Dialects    // in which calls succeeded there
	reported map[string]bool // rules that report once an origin and have
}

// origin returns the origin that an exchange went to.
func (s *Session) origin(x *Exchange) *origin {
	key := originOf(x.address)
	o, ok := s.origins.get(key)
	if !ok {
		o = &origin{}
		s.origins.put(key, o)
	}
	return o
}

// task returns what is known of an agent's task, or nil.
func (s *Session) task(key taskKey) *Task {
	t, _ := s.tasks.get(key)
	return t
}

// TaskOf returns what is known of the task with that id at the agent that the exchange belongs to, or nil.
func (s *Session) TaskOf(x *Exchange, id string) *Task {
	return s.task(taskKey{x.agent, x.tenant, id})
}
