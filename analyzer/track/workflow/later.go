package workflow

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// proved notes that a call to an agent is about a context that the agent used earlier, in a call that it made. It
// returns true if that determines the earlier call's cause: the only possible call.
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

// within notes that the agent of a call that was open created a context which an unknown client had used: no one else
// could know it. It returns true if that determines the earlier call's workflow.
func (m *Memory) within(earlier, c *call, s *shared) bool {
	if earlier.parent != nil || m.byAgent(earlier) || !made(earlier, c) || c.below(earlier) || c.depth() >= maxDepth ||
		slices.ContainsFunc(s.list, func(o *call) bool { return o != c && made(earlier, o) }) {
		return false
	}
	earlier.parent, earlier.by, earlier.maybe = c, InContext, nil
	m.report(earlier)
	return true
}

// made reports whether the context that an earlier call names can have been made by the agent of another one, while it
// was answering that.
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

// meant reports whether an earlier call can have been made by the agent of another one, while it was answering that.
func meant(earlier, c *call) bool {
	return earlier.madeBy(c.agent) && earlier.agent != c.agent && during(earlier, c)
}

// prelude links the fetches of an agent's card to the first call that follows in the same trace, or else by the same
// client or over the same connection.
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

// fetched notes the fetch of a card for which it is not known what caused it.
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

// followed links finished fetches to a call, and reports whether there were any. Fetches that its client may have made
// for this call or for another one are ignored from then on.
func (m *Memory) followed(x *analysis.Exchange, c *call, on fetchedOn, by Evidence) bool {
	before, ok := m.cards.Get(on)
	if !ok {
		return false
	}
	before = slices.DeleteFunc(before, func(f *call) bool { return f.parent != nil })
	var mine, unclear []*call
	if by == ByTrace {
		mine = filter(before, func(f *call) bool { return f.agent == c.agent && f.endedBefore(x) })
	} else {
		mine, unclear = m.fetchesOf(x, c, filter(before, c.mayShare))
	}
	for _, f := range mine {
		f.parent, f.by, f.maybe = c, by, nil
		m.report(f)
	}
	before = slices.DeleteFunc(before, func(f *call) bool { return f.parent != nil || slices.Contains(unclear, f) })
	if len(before) == 0 {
		m.cards.Delete(on)
	} else {
		m.cards.Put(on, before)
	}
	return len(mine) > 0
}

// fetchesOf chooses among the fetches that the client of a call may have made. It returns those for this call: those of a
// known client that made no other ones, or those on the call's connection, unless a pool may have exchanged connections.
// Those for this call or another one are unclear.
func (m *Memory) fetchesOf(x *analysis.Exchange, c *call, maybe []*call) (mine, unclear []*call) {
	done := filter(maybe, func(f *call) bool { return f.endedBefore(x) })
	if oneSearch(maybe) && !slices.ContainsFunc(maybe, func(f *call) bool { return !f.shares(c) }) && !m.calling(x, c) {
		return done, nil
	}
	mine = filter(maybe, c.sameConn)
	if len(mine) == 0 {
		return nil, maybe
	}
	swaps := func(o *call) bool {
		return !o.sameConn(c) && slices.ContainsFunc(mine, func(f *call) bool { return o.maySwap(f, c) })
	}
	unclear = filter(done, swaps)
	if len(unclear) > 0 || !oneSearch(mine) || slices.ContainsFunc(mine, func(f *call) bool { return !f.endedBefore(x) }) {
		return nil, append(unclear, mine...)
	}
	return mine, nil
}

// filter returns the calls for which keep returns true.
func filter(calls []*call, keep func(*call) bool) (kept []*call) {
	for _, c := range calls {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// endedBefore reports whether a call had ended when an exchange was opened.
func (c *call) endedBefore(x *analysis.Exchange) bool { return c.ended > 0 && c.ended < x.Opened }

// maySwap reports whether two finished fetches may come from one pool of connections, which then may have given the
// connection of f to the call that f was not for. A known client may have one. Of an unknown client, whose fetches may be
// of several programs, it is suspected only if the connections were opened at the same time, since a pool opens one if
// none is idle, and if the fetch that ended first is not followed first.
func (c *call) maySwap(f, next *call) bool {
	if !next.anonymous {
		return true
	}
	first, second := c, f
	if f.opened < c.opened {
		first, second = f, c
	}
	apart := second.fresh && second.opened > first.ended
	return !apart && c.ended < f.ended
}

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

// A notified is the notifications of a task that came before the answer of the call that made it.
type notified struct {
	by   []*call
	over bool // the task, as one of them says
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

// claim puts the notifications of a task that came early under the call that has made it.
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

// delivered puts a notification under the call that made its task.
func (m *Memory) delivered(t *task, c *call) {
	if c.parent == nil && !t.maker.below(c) && t.maker.depth() < maxDepth {
		c.parent, c.by = t.maker, ByDelivery
		m.report(c)
	}
}
