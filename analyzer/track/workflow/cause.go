package workflow

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// cause returns the call that caused an exchange and the evidence, or nil if unknown.
func (m *Memory) cause(x *analysis.Exchange, c *call) (*call, Evidence) {
	if parent, by := m.byTask(x); parent != nil {
		return parent, by
	}
	if x.Call.Operation == a2a.Webhook && x.Agent != "" && x.Call.TaskID != "" {
		return nil, None // its answer will show which call that is
	}
	for _, look := range [...]func(*analysis.Exchange, *call) (*call, Evidence){
		m.byTrace, m.byContext, m.byReference, m.nested, m.byContent,
	} {
		if parent, by := look(x, c); parent != nil {
			return parent, by
		}
	}
	return nil, None
}

// byTask finds the call that created the task which a request names, or which a notification is about.
func (m *Memory) byTask(x *analysis.Exchange) (*call, Evidence) {
	by := ByTask
	if x.Call.Operation == a2a.Webhook {
		by = ByDelivery
	}
	if t := m.named(x); t != nil {
		return t.maker, by
	}
	if x.Call.Operation != a2a.Webhook || x.Agent != "" || x.Call.TaskID == "" {
		return nil, None
	}
	if maker := m.onlyMaker(x.Call.TaskID, x.Link.Client); maker != nil {
		return maker, by
	}
	return nil, None
}

// onlyMaker returns the call that created a task, by its id alone: the only one that was seen at any agent, or else the
// only one at the agent with a name, if there is one.
func (m *Memory) onlyMaker(id, agent string) *call {
	same := m.byID.Find(idKey(id))
	if same == nil || same.more {
		return nil
	}
	if same.n == 1 {
		return same.list[0]
	}
	var found *call
	for _, c := range same.makers() {
		switch {
		case c.agent != agent:
		case found != nil:
			return nil
		default:
			found = c
		}
	}
	return found
}

// byAgent reports whether the client of a call is known to be an agent that was called.
func (m *Memory) byAgent(c *call) bool {
	_, ok := m.agents.Get(c.client)
	return ok && !c.anonymous
}

// byTrace finds the call of the same trace that the client was answering. If it is unknown which call that was, or
// whether the client was the one that answered it, the exchange still belongs to the workflow of the trace.
func (m *Memory) byTrace(x *analysis.Exchange, c *call) (*call, Evidence) {
	if c.trace == (traceID{}) {
		return nil, None
	}
	t, ok := m.traces.Get(c.trace)
	if !ok || t.constant {
		return nil, None
	}
	own, known := t.during(x, func(o *call) bool { return c.madeBy(o.agent) })
	if known && len(own.calls) == 1 {
		return own.calls[0], ByTrace
	}
	if parent := ancestor(own.calls); parent != nil && known {
		return parent, InTrace
	}
	if c.span == t.first.span { // a caller has a span for each of its calls
		return nil, None
	}
	root := t.first.root()
	if m.byAgent(c) {
		return m.inWorkflow(x, c, root)
	}
	all, known := t.during(x, func(o *call) bool { return o.conn != c.conn || c.conn == 0 })
	if len(all.calls) == 1 && m.byAgent(all.calls[0]) { // which may go by several names, and call side by side
		return root, InTrace
	}
	if parent := ancestor(all.calls); parent != nil && known {
		return parent, InTrace
	}
	return root, InTrace
}

// inWorkflow finds, among the calls that the client was answering, the one in a given workflow.
func (m *Memory) inWorkflow(x *analysis.Exchange, c *call, root *call) (*call, Evidence) {
	f, _ := m.agents.Get(c.client)
	own, known := f.during(x, func(o *call) bool { return o.root() == root })
	if parent := ancestor(own.calls); parent != nil && known {
		return parent, InTrace
	}
	return root, InTrace
}

// byContext finds the call that the client was answering in the context that a message names. If it is unknown whether
// the client answered it, the exchange still belongs to its workflow.
func (m *Memory) byContext(x *analysis.Exchange, c *call) (*call, Evidence) {
	if c.context == "" || !c.sends {
		return nil, None
	}
	s, ok := m.contexts.Get(idKey(c.context))
	if !ok {
		return nil, None
	}
	all, known := s.duringElsewhere(c.agent, x, func(o *call) bool { return o.conn != c.conn || c.conn == 0 })
	if !known {
		return nil, None
	}
	if m.byAgent(c) {
		all.calls = slices.DeleteFunc(all.calls, func(o *call) bool { return o.agent != c.client })
		if len(all.calls) == 1 {
			return all.calls[0], ByContext
		}
		return ancestor(all.calls), InContext
	}
	// An agent that passes a context on may have several names: its parallel calls do not cause each other.
	handed := func(o *call) bool { return o.context == c.context && m.byAgent(o) }
	for i, o := range all.calls {
		if handed(o) {
			all.calls[i] = o.parent
		}
	}
	all.calls = slices.DeleteFunc(all.calls, func(o *call) bool { return o == nil })
	if sameCaller(all.calls, c) {
		return nil, None
	}
	return ancestor(all.calls), InContext
}

// sameCaller reports whether all calls come from the client of another one, as far as names show: then the client makes
// them in parallel.
func sameCaller(calls []*call, c *call) bool {
	return !slices.ContainsFunc(calls, func(o *call) bool { return o.client != c.client })
}

// byReference finds the call about the task to which a message refers, among those that its client was answering. It
// proves the cause if the client is known to be the agent that works on the task. A client that refers to a task which
// it requested itself continues a conversation: its calls do not cause each other.
func (m *Memory) byReference(x *analysis.Exchange, c *call) (*call, Evidence) {
	if len(c.refs) == 0 {
		return nil, None
	}
	f, own := &m.sent, m.byAgent(c)
	if own {
		f, _ = m.agents.Get(c.client)
	}
	makers := makersOf(m.byID, c.refs)
	about, known := f.during(x, func(o *call) bool {
		return (own || o.agent != c.agent && !o.mayShare(c) && !o.sameConn(c)) && (o.worksFor(makers) || o.refersAs(c) ||
			slices.ContainsFunc(makers, func(maker *call) bool { return maker.parent == o && maker.mayShare(c) }))
	})
	switch {
	case !known:
		return nil, None
	case own && len(about.calls) == 1 && about.calls[0].worksFor(makers):
		return about.calls[0], ByReference
	case m.lacks(about.calls):
		return nil, None
	}
	return ancestor(about.calls), InReference
}

// makersOf returns the calls that created some tasks. It omits ids that several tasks have.
func makersOf(all *recent.Map[analysis.TaskKey, sameID], ids []analysis.TaskKey) (makers []*call) {
	for _, id := range ids {
		if same := all.Find(id); same != nil {
			makers = append(makers, only(same.makers()))
		}
	}
	return slices.DeleteFunc(makers, func(c *call) bool { return c == nil })
}

// nested finds the call that the client was answering, by the client's name. If there are several, it is the one whose
// content is carried over.
func (m *Memory) nested(x *analysis.Exchange, c *call) (*call, Evidence) {
	f, ok := m.agents.Get(c.client)
	if !ok || c.anonymous {
		return nil, None
	}
	own, known := f.during(x, func(*call) bool { return true })
	if !known || m.lacks(own.calls) {
		return nil, None
	}
	by := Nested
	if own.working {
		by = Working
	}
	if len(own.calls) == 1 {
		return own.calls[0], by
	}
	return carriedOf(own.calls, c, x.Call.Message)
}

// only returns the call if there is exactly one, otherwise nil.
func only(calls []*call) *call {
	if len(calls) != 1 {
		return nil
	}
	return calls[0]
}

// doubt records the equally likely causes, or that the caller is unknown while others are answering.
func (m *Memory) doubt(x *analysis.Exchange, c *call) {
	if x.Call.Operation == a2a.Webhook || c.card != "" && c.anonymous {
		return
	}
	var from choice
	more := 0 // that are not distinguished
	if f, ok := m.agents.Get(c.client); ok && !c.anonymous {
		from, _ = f.during(x, func(*call) bool { return true })
		more = f.beyond
	} else if c.sends {
		var known bool
		from, known = m.sent.duringElsewhere(c.agent, x, func(o *call) bool { return !o.shares(c) })
		if c.anonymous && len(from.calls) > 0 && !from.working {
			c.by = Unknown
		}
		from.calls = slices.DeleteFunc(from.calls, func(o *call) bool { return !handsOn(o, c) })
		if sameCaller(from.calls, c) || !known {
			return
		}
	}
	if maybe := choiceOf(from.calls, more); maybe != (Choice{}) && !m.lacks(from.calls) {
		c.by, c.maybe = Unknown, &maybe
	}
}

// lacks reports whether anything was unrecorded while one of the calls was open: there may have been another call.
func (m *Memory) lacks(calls []*call) bool {
	return slices.ContainsFunc(calls, func(c *call) bool { return c.began <= m.hole })
}

// handsOn reports whether two calls have content in common.
func handsOn(o, c *call) bool {
	for _, d := range c.contents {
		if slices.Contains(o.contents, d) {
			return true
		}
	}
	return false
}

// byContent finds the call whose content is passed on, if the client's name does not identify it.
func (m *Memory) byContent(x *analysis.Exchange, c *call) (*call, Evidence) {
	if m.byAgent(c) {
		return nil, None
	}
	var from []*call
	for _, d := range c.contents {
		f, _ := m.contents.Get(d)
		found, known := f.duringElsewhere(c.agent, x, func(o *call) bool { return o.conn != c.conn || c.conn == 0 })
		if !known || m.lacks(found.calls) {
			return nil, None
		}
		for _, o := range found.calls {
			if !slices.Contains(from, o) {
				from = append(from, o)
			}
		}
	}
	if sameCaller(from, c) {
		return nil, None
	}
	return only(from), ByContent
}
