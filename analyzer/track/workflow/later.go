package workflow

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// proved records that a call to an agent is about a context that the agent used earlier, in a call that it made. It
// returns true if that determines the earlier call's cause, as the only possible call.
func (m *Memory) proved(earlier, c *call, s *shared) bool {
	if !meant(earlier, c) || slices.ContainsFunc(s.list, func(o *call) bool { return o != c && meant(earlier, o) }) {
		return false
	}
	switch {
	case earlier.parent == c && !earlier.by.Certain():
	case earlier.parent == nil && c.root() != earlier && c.depth() < maxDepth:
		earlier.parent = c
	default:
		return false
	}
	earlier.by = ByContext
	m.report(earlier)
	return true
}

// within records that the agent of an open call created a context which an unknown client had used: no one else could
// know it. It returns true if that determines the earlier call's workflow.
func (m *Memory) within(earlier, c *call, s *shared) bool {
	if earlier.parent != nil || m.byAgent(earlier) || !made(earlier, c) || c.below(earlier) || c.depth() >= maxDepth ||
		slices.ContainsFunc(s.list, func(o *call) bool { return o != c && made(earlier, o) }) {
		return false
	}
	earlier.parent, earlier.by, earlier.maybe = c, InContext, nil
	m.report(earlier)
	return true
}

// made reports whether the agent of a call can have created the context that an earlier call names, while answering
// that call.
func made(earlier, c *call) bool {
	return c.context == "" && earlier.agent != c.agent && during(earlier, c)
}

// during reports whether a call began while another one was open.
func during(earlier, c *call) bool {
	return c.began < earlier.began && (c.ended == 0 || c.ended > earlier.began)
}

// identify notes the client of a call, if it was identified while the call was open.
func (m *Memory) identify(x *analysis.Exchange, c *call) {
	c.client, c.anonymous = strings.Clone(x.Link.Client), false
	if c.neighbor {
		if c.parent == nil || c.by == OnlyOpen {
			m.locate(x, c)
			m.report(c)
		}
		return
	}
	if c.parent != nil || x.Call.Operation == a2a.Webhook {
		return
	}
	c.by, c.maybe = None, nil
	if parent, by := m.nested(x, c); parent != nil && !parent.below(c) && parent.depth() < maxDepth {
		c.parent, c.by = parent, by
	} else if parent == nil {
		m.doubt(x, c)
	}
	m.report(c)
}

// meant reports whether the agent of a call can have made an earlier call while answering it.
func meant(earlier, c *call) bool {
	return earlier.madeBy(c.agent) && earlier.agent != c.agent && during(earlier, c)
}

// prelude links the fetches of an agent's card to the first call that follows in the same trace, or else by the same
// client; for an anonymous client, only on the same connection. If a client fetched the card several times before it
// calls, it is unknown for which call each fetch was; connections do not tell either, since pools reuse them
// arbitrarily.
func (m *Memory) prelude(x *analysis.Exchange, c *call) {
	on := fetchedOn{agent: c.agent}
	inTrace := fetchedOn{trace: c.trace}
	switch x.Call.Operation {
	case a2a.Webhook:
	case a2a.GetCard:
		if c.trace != (traceID{}) {
			on = inTrace
		}
		m.fetched(on, c)
	default:
		if c.trace != (traceID{}) && m.followed(x, c, inTrace, ByTrace) || c.by == ByTask {
			return // a client that asks for its own task has read the card before
		}
		m.followed(x, c, on, Prelude)
	}
}

// fetched records the fetch of a card with an unknown cause.
func (m *Memory) fetched(on fetchedOn, c *call) {
	if c.parent != nil {
		return
	}
	before, _ := m.cards.Get(on)
	if len(before) == maxFrames {
		before = before[1:]
	}
	m.cards.Put(on, append(before, c))
}

// followed links finished fetches to a call, and reports whether there were any. Fetches that may be by its client are
// ignored from then on.
func (m *Memory) followed(x *analysis.Exchange, c *call, on fetchedOn, by Evidence) bool {
	before, ok := m.cards.Get(on)
	if !ok {
		return false
	}
	var mine, others, maybe []*call
	for _, f := range before {
		if f.parent == nil && f.mayShare(c) {
			maybe = append(maybe, f)
		}
		switch {
		case f.parent != nil:
		case by == Prelude && !f.mayShare(c), by == ByTrace && f.agent != c.agent, f.ended == 0, f.ended >= x.Opened:
			others = append(others, f)
		default:
			mine = append(mine, f)
		}
	}
	if by == Prelude && (!oneSearch(maybe) || m.calling(x, c) ||
		slices.ContainsFunc(maybe, func(f *call) bool { return !f.shares(c) })) {
		others = slices.DeleteFunc(others, func(f *call) bool { return f.mayShare(c) })
		mine = nil
	}
	for _, f := range mine {
		f.parent, f.by, f.maybe = c, by, nil
		m.report(f)
	}
	if len(others) == 0 {
		m.cards.Delete(on)
	} else {
		m.cards.Put(on, others)
	}
	return len(mine) > 0
}

// endedBefore reports whether a call had ended when an exchange was opened.
func (c *call) endedBefore(x *analysis.Exchange) bool { return c.ended > 0 && c.ended < x.Opened }

// calling reports whether the client of a call waits for another answer of the same agent. Its calls may then serve
// either purpose.
func (m *Memory) calling(x *analysis.Exchange, c *call) bool {
	f, _ := m.agents.Get(c.agent)
	waiting, known := f.during(x, func(o *call) bool {
		answering, _ := o.busy(x)
		return answering && o.mayShare(c)
	})
	return len(waiting.calls) > 0 || !known
}

// oneSearch reports whether fetches of a card look like one search for it: one after the other on one connection, each
// at another address.
func oneSearch(fetches []*call) bool {
	for i, f := range fetches {
		same := func(o *call) bool { return o.card == f.card || o.conn != f.conn || f.conn == 0 }
		if slices.ContainsFunc(fetches[:i], same) {
			return false
		}
	}
	return true
}

// A notified has the notifications of a task that arrived before the answer of the call that created the task.
type notified struct {
	by   []*call
	over bool // the task, according to one of them
}

// early notes a notification about an unknown task: agents may notify before they answer.
func (m *Memory) early(key analysis.TaskKey, c *call, state a2a.State) {
	n, ok := m.notified.Get(key)
	if !ok {
		n = &notified{}
		m.notified.Put(key, n)
	}
	n.over = n.over || state.Terminal()
	if len(n.by) < maxFrames && !slices.Contains(n.by, c) {
		n.by = append(n.by, c)
	}
}

// claim puts the early notifications of a task under the call that created it.
func (m *Memory) claim(key analysis.TaskKey, t *task) {
	n, ok := m.notified.Get(key)
	if !ok || !t.maker.sends {
		return
	}
	m.notified.Delete(key)
	t.over = n.over
	for _, c := range n.by {
		m.delivered(t, c)
	}
}

// delivered puts a notification under the call that created its task.
func (m *Memory) delivered(t *task, c *call) {
	if c.parent == nil && !t.maker.below(c) && t.maker.depth() < maxDepth {
		c.parent, c.by = t.maker, ByDelivery
		m.report(c)
	}
}
