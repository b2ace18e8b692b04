package workflow

import (
	"slices"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// proved takes note that an agent's call is about a context that the agent named earlier, in a call of its own. It
// returns true if that settles where the earlier one belongs: under the only call that can be meant.
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

// meant reports whether an earlier call can have been made by the agent of another one, while it was answering that.
func meant(earlier, c *call) bool {
	return earlier != c && earlier.client == c.agent && earlier.agent != c.agent &&
		c.began < earlier.began && (c.ended == 0 || c.ended > earlier.began)
}

// prelude puts the fetches of an agent's card under the first call that follows: in the same trace, on the same
// connection, or else by the same client if there was only one.
func (m *Memory) prelude(x *analyzer.Exchange, c *call) {
	on := make([]fetchedOn, 0, 3)
	if c.trace != (traceID{}) {
		on = append(on, fetchedOn{trace: c.trace})
	}
	if c.conn != 0 {
		on = append(on, fetchedOn{conn: c.conn})
	}
	on = append(on, fetchedOn{link: analyzer.Link{Client: c.client, Agent: c.agent}})
	switch x.Call.Operation {
	case a2a.Webhook:
	case a2a.GetCard:
		for _, at := range on {
			if before, _ := m.cards.Get(at); c.parent == nil && len(before) < maxFrames {
				m.cards.Put(at, append(before, c))
			}
		}
	default:
		for _, at := range on {
			if m.followed(x, c, at) {
				return
			}
		}
	}
}

// followed puts the fetches that were made in one way under a call, and reports whether there were any.
func (m *Memory) followed(x *analyzer.Exchange, c *call, at fetchedOn) bool {
	before, ok := m.cards.Get(at)
	if !ok {
		return false
	}
	before = slices.DeleteFunc(before, func(f *call) bool { return f.parent != nil })
	fits := func(f *call) bool { return f.agent == c.agent && f.ended > 0 && f.ended < x.Opened }
	byName := at.trace == traceID{} && at.conn == 0
	if byName && len(before) > 1 { // it may be another program of that name
		m.cards.Delete(at)
		return false
	}
	found := false
	before = slices.DeleteFunc(before, func(f *call) bool {
		if !fits(f) {
			return false
		}
		found, f.parent, f.by = true, c, Prelude
		if at.trace != (traceID{}) {
			f.by = ByTrace
		}
		m.report(f)
		return true
	})
	if len(before) == 0 {
		m.cards.Delete(at)
	} else {
		m.cards.Put(at, before)
	}
	return found
}
