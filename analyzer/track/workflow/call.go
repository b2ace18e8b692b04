package workflow

import (
	"bytes"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// Bounds on the nesting of calls. Deeper calls begin a separate workflow.
const (
	maxDepth = 64            // of a call when its request was read
	maxWalk  = 16 * maxDepth // after workflows were joined
)

// A call is an exchange, and the facts needed to find its consequences. Fields that are read for many calls at once
// come first.
type call struct {
	n             uint64
	began         uint64    // arrival number of the request's end
	ended         uint64    // of the answer's; 0 while it is open
	tasks         int       // that it works on, as far as is known
	agent, client string    // names
	seen          time.Time // when one of its tasks was last seen at work
	by            Evidence
	anonymous     bool // the client's name does not identify it
	sends         bool // a message
	neighbor      bool // it is not A2A
	parent        *call
	maybe         *Choice // of Unknown; or nil
	told          uint64  // the parent last reported
	conn          uint64
	trace         traceID // zero if it names none
	span          spanID
	contents      []digest.Digest    // of the message
	content       [1]digest.Digest   // room for the first of them
	luggage       *luggage           // the message, too; may be nil
	held          []*frames          // that it did not fit into
	context       string             // that the request names
	card          string             // the request's target, if it fetches a card
	refs          []analysis.TaskKey // of the tasks to which the message refers, by id alone
}

// link returns the link of a call.
func (c *call) link() Link {
	l := Link{Exchange: c.n, Workflow: c.root().n, By: c.by}
	if c.parent != nil {
		l.Parent = c.parent.n
	} else if c.maybe != nil {
		l.Maybe = *c.maybe
	}
	return l
}

// madeBy reports whether the agent with a name is known to have made the call.
func (c *call) madeBy(agent string) bool { return !c.anonymous && c.client == agent }

// sameConn reports whether two calls used the same known connection.
func (c *call) sameConn(o *call) bool { return c.conn != 0 && c.conn == o.conn }

// shares reports whether two calls were certainly made by the same client.
func (c *call) shares(o *call) bool {
	return c.sameConn(o) || c.client == o.client && !c.anonymous && !o.anonymous
}

// mayShare reports whether two calls may have been made by the same client. It may be the same if it is known once, and
// named by its User-Agent once.
func (c *call) mayShare(o *call) bool { return c.client == o.client || c.anonymous != o.anonymous }

// worksFor reports whether the call created or continues a task, given the calls that created the tasks.
func (c *call) worksFor(makers []*call) bool {
	return slices.Contains(makers, c) || c.by == ByTask && slices.Contains(makers, c.parent)
}

// refersAs reports whether two calls refer to the same task.
func (c *call) refersAs(o *call) bool {
	return slices.ContainsFunc(c.refs, func(id analysis.TaskKey) bool { return slices.Contains(o.refs, id) })
}

// root returns the call that began the workflow.
func (c *call) root() *call {
	for range maxWalk {
		if c.parent == nil {
			break
		}
		c = c.parent
	}
	return c
}

// depth returns how many calls are above.
func (c *call) depth() int {
	n := 0
	for c.parent != nil && n < maxWalk {
		c = c.parent
		n++
	}
	return n
}

// below reports whether another call is above.
func (c *call) below(o *call) bool {
	for range maxWalk {
		if c == nil || c == o {
			break
		}
		c = c.parent
	}
	return c == o
}

// ancestor returns the nearest call that is an ancestor of all given calls, or one of them; nil if they belong to
// several workflows.
func ancestor(calls []*call) *call {
	if len(calls) == 0 {
		return nil
	}
	common := calls[0]
	for _, c := range calls[1:] {
		above := make(map[*call]bool, maxDepth)
		for ; c != nil && len(above) < maxWalk; c = c.parent {
			above[c] = true
		}
		for i := 0; common != nil && !above[common] && i < maxWalk; i++ {
			common = common.parent
		}
		if common == nil || !above[common] {
			return nil
		}
	}
	return common
}

// idle reports whether the call can have no more consequences: it was answered, and none of its tasks is active.
func (c *call) idle() bool { return c.ended > 0 && c.tasks == 0 }

// quiet is how long a task counts as worked on that was not seen.
const quiet = 5 * time.Minute

// busy reports whether the agent was processing the call when an exchange was opened: answering it, or on a task that
// it created or continued.
func (c *call) busy(x *analysis.Exchange) (answering, working bool) {
	if c.began >= x.Opened {
		return false, false
	}
	if c.ended == 0 || c.ended > x.Opened {
		return true, false
	}
	gone := !c.seen.IsZero() && !x.Started.IsZero() && x.Started.Sub(c.seen) > quiet
	return false, c.tasks > 0 && !gone
}

// idKey returns the key of an id alone: a task's, from any agent, or a context's.
func idKey(id string) analysis.TaskKey { return analysis.TaskKeyOf("", "", id) }

// A sameID is the makers of tasks that have the same id, at different agents.
type sameID struct {
	list [maxMakers]*call
	n    int
	more bool // than are kept
}

func (s *sameID) makers() []*call { return s.list[:s.n] }

// frames are calls with something in common that are not idle, or became idle recently.
type frames struct {
	list    []*call
	first   [1]*call // room for a single call, the usual case
	beyond  int      // number of further calls for which there was no room
	agent   string   // that all calls in the list went to, unless several is true
	several bool
}

// maxFrames bounds the calls of one agent, trace, context or content. If there are more at once, no links are made.
const maxFrames = 64

// add adds a call.
func (f *frames) add(c *call) {
	if len(f.list) >= maxFrames/2 {
		f.list = slices.DeleteFunc(f.list, (*call).idle)
	}
	if len(f.list) >= maxFrames {
		f.beyond++
		c.held = append(c.held, f)
		return
	}
	switch {
	case f.list == nil:
		f.list, f.agent = f.first[:0], c.agent
	case len(f.list) == 0:
		f.agent, f.several = c.agent, false
	case slices.Contains(f.list, c):
		return
	}
	f.several = f.several || c.agent != f.agent
	if f.list = append(f.list, c); len(f.list) == 2 {
		f.first[0] = nil // it has moved
	}
}

// settle records that a call may have become idle.
func (c *call) settle() {
	if !c.idle() {
		return
	}
	for _, f := range c.held {
		f.beyond--
	}
	c.held = nil
}

// A choice is the calls that may have caused an exchange.
type choice struct {
	calls   []*call
	working bool // none of them waited for its answer
}

// during returns the calls in progress when an exchange was opened for which keep returns true. It returns false if
// there may be others.
func (f *frames) during(x *analysis.Exchange, keep func(*call) bool) (choice, bool) {
	if f == nil {
		return choice{}, true
	}
	found := choice{working: true}
	for _, c := range f.list {
		answering, working := c.busy(x)
		if (answering || working) && c.n != x.Seq && keep(c) {
			found.calls = append(found.calls, c)
			found.working = found.working && !answering
		}
	}
	return found, f.beyond == 0
}

// duringElsewhere is like during, for calls to other agents than the given one.
func (f *frames) duringElsewhere(agent string, x *analysis.Exchange, keep func(*call) bool) (choice, bool) {
	if f != nil && f.agent == agent && !f.several {
		return choice{}, f.beyond == 0
	}
	return f.during(x, func(c *call) bool { return c.agent != agent && keep(c) })
}

// Bounds of the contents of a message that are compared.
const (
	maxContents = 8
	minContent  = 12 // bytes: who writes less may mean anything
)

// appendContents appends digests of the parts of a message that are long enough to be distinctive.
func appendContents(list []digest.Digest, x *analysis.Exchange) []digest.Digest {
	for _, part := range (a2a.Message{Value: x.Call.Message}).Parts().All() {
		if len(list) == maxContents {
			break
		}
		if d, ok := contentOf(part); ok && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

func contentOf(part a2a.Part) (digest.Digest, bool) {
	switch part.PartKind() {
	case a2a.TextPart:
		text, ok := part.Get("text").Literal()
		if !ok {
			text = []byte(part.Text())
		}
		text = bytes.TrimSpace(text)
		return digest.Empty.Byte('t').Bytes(text), len(text) >= minContent
	case a2a.DataPart:
		return digest.Empty.Byte('d').JSON(part.Data(), ""), len(part.Data().Raw()) >= minContent
	case a2a.RawPart:
		return digest.Empty.Byte('r').JSON(part.Bytes(), ""), len(part.Bytes().Raw()) >= minContent
	case a2a.URLPart:
		return digest.Empty.Byte('u').JSON(part.URI(), ""), len(part.URI().Raw()) >= minContent
	}
	return 0, false
}

// maxMakers bounds the tasks of different agents that have the same id.
const maxMakers = 4

// A traceID identifies a trace, a spanID the source of a request in it.
type (
	traceID [16]byte
	spanID  [8]byte
)
