package workflow

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/neighbor"
)

// maxAsked bounds the remembered tool calls that models have asked for.
const maxAsked = 5_000

// An asked remembers the tool calls that models have asked for.
type asked struct {
	calls   *recent.Map[digest.Digest, []*ask] // by their arguments
	results *recent.Map[digest.Digest, *ask]   // by client and id; nil for an id that several answers of models have
}

// An ask is a tool call that a model asked for.
type ask struct {
	tool  string
	by    *call
	taken *call // the call that followed; or nil
}

// Calls that are not A2A have causes like others, and cause only each other: they have no effect on the causes of A2A
// calls.

// neighborBegan finds the place of a call that is not A2A.
func (m *Memory) neighborBegan(x *analysis.Exchange, arrival uint64) {
	c := &call{
		n: x.Seq, client: x.Link.Client, agent: x.Link.Agent, anonymous: x.Anonymous, conn: x.Conn, began: arrival,
		neighbor: true,
	}
	c.trace, c.span, _ = traceOf(x.Request.Fields)
	m.call.Put(x, c)
	m.locate(x, c)
	m.report(c)
	for _, t := range m.asked.confirm(x, c) {
		m.report(t)
	}
}

// locate determines the cause of a call that is not A2A, by the known facts about its client.
func (m *Memory) locate(x *analysis.Exchange, c *call) {
	c.parent, c.by, c.maybe = nil, None, nil
	defer func() { x.Cause = c.agentCall() }()
	parent, by := m.asked.find(x, c)
	if parent == nil {
		parent, by = m.byTrace(x, c)
	}
	if parent != nil && parent.depth() < maxDepth {
		c.parent, c.by = parent, by
		return
	}
	var open choice
	known, more := true, 0
	if f, called := m.agents.Get(c.client); called && !c.anonymous {
		open, known = f.during(x, func(*call) bool { return true })
		by, more = Nested, f.beyond
		if open.working {
			by = Working
		}
	} else if c.anonymous {
		open, known = m.sent.during(x, func(o *call) bool { return o.client != c.client && !o.sameConn(c) })
		if by = OnlyOpen; open.working {
			return // an unfinished task does not show who calls
		}
	}
	switch {
	case m.lacks(open.calls):
	case known && len(open.calls) == 1:
		if only := open.calls[0]; only.depth() < maxDepth {
			c.parent, c.by = only, by
		}
	default:
		if maybe := choiceOf(open.calls, more); maybe != (Choice{}) {
			c.by, c.maybe = Unknown, &maybe
		}
	}
}

// neighborEnded records that a call that is not A2A has ended, and which tools a model asked for.
func (m *Memory) neighborEnded(x *analysis.Exchange, c *call, arrival uint64) {
	c.ended = max(arrival, c.began)
	m.asked.add(x, c)
}

// agentCall returns the number of the A2A call during which its agent made a call that is not A2A, directly or not; 0
// if unknown. The only open call of an unknown client is not enough, since the verdict uses the result.
func (c *call) agentCall() uint64 {
	for ; c.parent != nil && c.by != OnlyOpen; c = c.parent {
		if !c.parent.neighbor {
			return c.parent.n
		}
	}
	return 0
}

// add records the tool calls that the answer of a model asked for.
func (m *asked) add(x *analysis.Exchange, c *call) {
	for i := range x.Neighbor.Asked {
		t := &x.Neighbor.Asked[i]
		args := jsondoc.Parse([]byte(t.Arguments))
		at, _ := m.calls.At(argumentsOf(args.Root))
		if len(*at) == maxFrames {
			*at = (*at)[1:]
		}
		a := &ask{tool: t.Name, by: c}
		*at = append(*at, a)
		if t.ID == "" || c.anonymous {
			continue
		}
		result, known := m.results.At(resultOf(c, t.ID))
		if *result = a; known {
			*result = nil
		}
	}
}

// confirm proves the causes of tool calls whose results are sent to a model: the model's answers asked for them, by ids
// that no other answer to the same client has. It returns the tool calls that are newly proved.
func (m *asked) confirm(x *analysis.Exchange, c *call) (proved []*call) {
	if c.anonymous {
		return nil
	}
	for _, id := range x.Neighbor.Answers {
		a, _ := m.results.Get(resultOf(c, id))
		if a == nil || a.taken == nil {
			continue
		}
		if t := a.taken; t.by == ByModel && t.shares(c) && t.endedBefore(x) {
			t.by = ByResult
			proved = append(proved, t)
		}
	}
	return proved
}

// resultOf returns the key of the result of a tool call that the client of a call sends to a model.
func resultOf(c *call, id string) digest.Digest {
	return digest.Empty.Bytes([]byte(c.client)).Byte(0).Bytes([]byte(id))
}

// find finds the call of a model whose answer asked for a tool call, by the same client: with the same arguments for the
// same tool, which no call has followed yet.
func (m *asked) find(x *analysis.Exchange, c *call) (*call, Evidence) {
	n := x.Neighbor
	if n.Kind != neighbor.MCP || n.Operation != "tools/call" || n.Subject == "" {
		return nil, None
	}
	asks, _ := m.calls.Get(argumentsOf(x.Doc().Root.Get("params").Get("arguments")))
	var found *ask
	for _, a := range asks {
		known := !a.by.anonymous && !c.anonymous // otherwise it may be any program, each with its own library
		if a.taken != nil || a.by.ended >= x.Opened || !isTool(a.tool, n.Subject) || known && a.by.client != c.client {
			continue
		}
		if found != nil && found.by != a.by {
			return nil, None
		}
		if found == nil {
			found = a
		}
	}
	if found == nil {
		return nil, None
	}
	found.taken = c
	return found.by, ByModel
}

// isTool reports whether a model means an MCP tool by a name: frameworks put the name of the server before it.
func isTool(asked, tool string) bool {
	before, ok := strings.CutSuffix(asked, tool)
	return ok && (before == "" || slices.Contains([]byte("_-./:"), before[len(before)-1]))
}

// argumentsOf returns a digest of the arguments of a tool call; absent ones are empty.
func argumentsOf(v a2a.Value) digest.Digest {
	if v.Len() == 0 {
		return digest.Empty
	}
	return digest.Empty.JSON(v, "")
}

// newAsked returns an empty memory of tool calls.
func newAsked() asked {
	return asked{
		recent.NewHashed[digest.Digest, []*ask](maxAsked, digest.Digest.Low),
		recent.NewHashed[digest.Digest, *ask](maxAsked, digest.Digest.Low),
	}
}
