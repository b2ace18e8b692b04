// Package workflow tracks causes: it groups the exchanges that result from one request of a user, through all the
// agents that work on it.
//
// An exchange has a proved cause if it names a task that the other exchange created, or carries the trace or the
// context of a call that its client was answering. Without proof, a cause is likely if it is the only possible one; the
// link then says that it is not proved, and gives the reason. If two causes are equally likely, the exchange begins a
// separate workflow: nothing is guessed.
//
// Links are known when a request has been read, in one pass, and are the same live and offline. Later facts can prove a
// likely link, and can put an exchange under its cause if several were possible. They never move an exchange from one
// cause to another.
package workflow

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/push"
	"a2atap/proxy/a2a"
)

// Bounds of memory. Anything beyond is forgotten, least recently used first.
const (
	maxTasks    = 5_000
	maxAgents   = 10_000
	maxTraces   = 5_000
	maxContexts = 5_000
	maxDigests  = 5_000 // of contents
	maxCards    = 1_000 // traces and agents in which a card was fetched and no call has followed
)

// Tracker remembers which calls are in progress, and which call created each task.
var Tracker = &analysis.Tracker{
	Name:  "workflow",
	Doc:   "causes: the exchanges that belong to one request of a user",
	Needs: []*analysis.Tracker{push.Tracker}, // which recognizes notifications
	On: analysis.RequestRead | analysis.TaskSeen | analysis.AnswerDone | analysis.StreamEnded | analysis.MessageSeen |
		analysis.ExchangeDone,
	New: func(s *analysis.Setup) analysis.State {
		m := &Memory{
			tasks:    analysis.RecentByTask[task](maxTasks),
			byID:     analysis.RecentByTask[sameID](maxTasks),
			agents:   recent.New[string, *frames](maxAgents),
			clients:  recent.New[string, struct{}](maxAgents),
			traces:   recent.New[traceID, *trace](maxTraces),
			contexts: analysis.RecentByTask[*shared](maxContexts),
			contents: recent.NewHashed[digest.Digest, *frames](maxDigests, digest.Digest.Low),
			cards:    recent.New[fetchedOn, []*call](maxCards),
			notified: analysis.RecentByTask[*notified](maxTasks),
			asked:    newAsked(),
			call:     analysis.NewSlot[*call](s),
		}
		for _, given := range s.Given() {
			if tell, ok := given.(func(Link)); ok {
				m.tell = append(m.tell, tell)
			}
		}
		return m
	},
}

// Memory remembers workflows.
type Memory struct {
	tell     []func(Link)
	tasks    *recent.Map[analysis.TaskKey, task]
	byID     *recent.Map[analysis.TaskKey, sameID]
	agents   *recent.Map[string, *frames]  // by name: all that were called
	clients  *recent.Map[string, struct{}] // by name: all that have called, and are known
	traces   *recent.Map[traceID, *trace]
	contexts *recent.Map[analysis.TaskKey, *shared]
	contents *recent.Map[digest.Digest, *frames]
	cards    *recent.Map[fetchedOn, []*call]
	notified *recent.Map[analysis.TaskKey, *notified]
	asked    asked
	call     analysis.Slot[*call]
	sent     frames // messages between any programs
	lost     int64  // exchanges, so far
	hole     uint64 // arrival number up to which something may be missing
}

// A task has the facts about a task that matter for causes: its creator and its owner.
type task struct {
	maker *call // the call that created it, or else the first that showed it
	owner *call // the last that gave it work
	works bool  // the owner counts it as worked on
	over  bool
}

// A shared has the calls that share one context.
type shared struct {
	frames
	waiting []*call // that named it before its owner was known
}

// A trace has the calls of one trace.
type trace struct {
	frames
	first    *call
	constant bool // unrelated calls have the same traceparent: it proves nothing
}

// fetchedOn identifies where a card was fetched: in which trace, or else from which agent.
type fetchedOn struct {
	trace traceID
	agent string
}

// LinkOf returns the known link of an exchange; the zero Link if its request was not read.
func (m *Memory) LinkOf(x *analysis.Exchange) (l Link) {
	if c := m.call.Of(x); c != nil {
		l = c.link()
	}
	return l
}

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	x := p.Exchange
	if lost := p.Lost(); lost != m.lost {
		m.lost, m.hole = lost, max(p.Arrival, x.Opened)
	}
	if p.Kind == analysis.RequestRead {
		switch {
		case x.Neighbor != nil:
			m.neighborBegan(x, p.Arrival)
		case x.Judged() && !x.InBatch():
			m.begin(x, p.Arrival)
		}
		return
	}
	c := m.call.Of(x)
	if c == nil {
		return
	}
	if c.anonymous && !x.Anonymous {
		m.identify(x, c)
	}
	switch p.Kind {
	case analysis.TaskSeen:
		m.see(x, c, p.Task)
	case analysis.MessageSeen:
		if p.Entity.Author == a2a.Agent {
			m.inContext(c, a2a.Message{Value: p.Entity.Value}.ContextID())
		}
	case analysis.AnswerDone:
		if p.Event == nil {
			m.end(c, p.Arrival)
		}
	case analysis.StreamEnded, analysis.ExchangeDone:
		if c.neighbor {
			m.neighborEnded(x, c, p.Arrival)
		} else {
			m.end(c, p.Arrival)
		}
	}
}

// Forgotten implements analysis.State. Nothing is counted: no rule asks for what may be forgotten.
func (m *Memory) Forgotten() int { return 0 }

// end records that a call was answered, or has ended.
func (m *Memory) end(c *call, arrival uint64) {
	if c.ended > 0 {
		return
	}
	c.ended = max(arrival, c.began)
	c.settle()
	if _, asks := m.clients.Get(c.agent); asks || c.tasks > 0 {
		c.packed()
	} else {
		c.leave()
	}
}

// begin determines the cause of an exchange, and records its possible effects.
func (m *Memory) begin(x *analysis.Exchange, arrival uint64) {
	c := &call{
		n: x.Seq, client: x.Link.Client, agent: x.Link.Agent, anonymous: x.Anonymous, conn: x.Conn,
		sends: x.Call.Operation.Sends(), began: arrival, context: strings.Clone(x.Call.ContextID),
	}
	if c.sends {
		c.contents = appendContents(c.content[:0], x)
		c.luggage = &luggage{message: x.Call.Message}
		for _, id := range x.References() {
			if id != "" {
				c.refs = append(c.refs, idKey(id))
			}
		}
	}
	if !c.anonymous {
		m.clients.Put(c.client, struct{}{})
	}
	c.trace, c.span, _ = traceOf(x.Request.Fields)
	if x.Call.Operation == a2a.GetCard {
		c.card = strings.Clone(x.Request.Target)
	}
	m.call.Put(x, c)
	parent, by := m.cause(x, c)
	if parent != nil && parent.depth() < maxDepth {
		c.parent, c.by = parent, by
	} else if parent == nil {
		m.doubt(x, c)
	}
	m.remember(x, c)
	m.report(c)
	m.prelude(x, c)
}

// report reports the link of a call.
func (m *Memory) report(c *call) {
	l := c.link()
	l.Before, c.told = c.told, l.Parent
	for _, tell := range m.tell {
		tell(l)
	}
}

// remember records the possible effects of a call.
func (m *Memory) remember(x *analysis.Exchange, c *call) {
	if x.Call.Operation == a2a.Webhook {
		return // who is notified is not asked for anything
	}
	at, known := m.agents.At(c.agent)
	if !known {
		*at = &frames{}
	}
	if c.trace != (traceID{}) && x.Call.Operation != a2a.GetCard {
		m.traced(c)
	}
	if !c.sends && x.Call.Operation != a2a.NoOperation {
		return // answering it needs no calls
	}
	(*at).add(c)
	if t := m.named(x); t != nil && c.sends {
		t.pass(c)
	}
	if c.sends {
		m.sent.add(c)
		m.inContext(c, c.context)
	}
	for _, d := range c.contents {
		f, known := m.contents.At(d)
		if !known {
			*f = &frames{}
		}
		(*f).add(c)
	}
}

// traced records the trace of a call.
func (m *Memory) traced(c *call) {
	t, ok := m.traces.Get(c.trace)
	if !ok {
		t = &trace{first: c}
		m.traces.Put(c.trace, t)
	} else if c.sends && c.parent == nil && c.span == t.first.span {
		t.constant = true
	}
	if c.sends {
		t.add(c)
	}
}

// named returns the task that a request names, if known. The result is valid until another task is remembered.
func (m *Memory) named(x *analysis.Exchange) *task {
	if x.Call.TaskID == "" || x.Agent == "" {
		return nil
	}
	return m.tasks.Find(x.TaskKey(x.Call.TaskID))
}

// pass passes the work on a task to another call.
func (t *task) pass(to *call) {
	if t.works {
		t.owner.tasks--
		t.owner.settle()
		to.tasks++
		to.seen = t.owner.seen
	}
	t.owner = to
}

// see records a task in an answer, an event or a notification.
func (m *Memory) see(x *analysis.Exchange, c *call, seen *analysis.TaskObservation) {
	if x.Agent == "" {
		return
	}
	key := x.TaskKey(seen.TaskID)
	t := m.tasks.Find(key)
	switch known := t != nil; {
	case known && x.Call.Operation == a2a.Webhook:
		m.delivered(t, c)
	case known:
	case x.Call.Operation == a2a.ListTasks: // which has created none of them
		return
	case x.Call.Operation == a2a.Webhook:
		m.early(key, c, seen.State)
		return
	default:
		if dropped, full := m.tasks.Put(key, task{maker: c, owner: c}); full && dropped.works {
			dropped.owner.tasks--
			dropped.owner.settle()
		}
		t = m.tasks.Find(key)
		m.madeBy(seen.TaskID, c)
		c.knownBy(seen.TaskID)
		m.claim(key, t)
	}
	if c.sends && t.owner == c {
		m.inContext(c, seen.ContextID)
	}
	if seen.State == a2a.NoState {
		return
	}
	t.over = t.over || seen.State.Terminal()
	works := seen.State.Active() && !t.over
	switch {
	case works && !t.works:
		t.owner.tasks++
	case !works && t.works:
		t.owner.tasks--
		t.owner.settle()
	}
	if t.works = works; works {
		t.owner.seen = seen.At
	}
}

// madeBy records which call created a task.
func (m *Memory) madeBy(id string, c *call) {
	same, _ := m.byID.At(idKey(id))
	if same.more = same.more || same.n == maxMakers; !same.more {
		same.list[same.n] = c
		same.n++
	}
}

// inContext notes that a call is about a context. Calls of its agent that named that context before are now known to
// come from it.
func (m *Memory) inContext(c *call, id string) {
	if id == "" {
		return
	}
	at, known := m.contexts.At(idKey(id))
	if !known {
		*at = &shared{}
	}
	s := *at
	if id == c.context && c.by != ByContext && !slices.Contains(s.waiting, c) {
		if len(s.waiting) == maxFrames {
			s.waiting = s.waiting[1:]
		}
		s.waiting = append(s.waiting, c)
	}
	if slices.Contains(s.list, c) {
		return
	}
	s.add(c)
	c.knownBy(id)
	if s.beyond == 0 {
		s.waiting = slices.DeleteFunc(s.waiting, func(w *call) bool { return m.proved(w, c, s) || m.within(w, c, s) })
	}
}
