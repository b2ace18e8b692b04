// Package tally counts an engine's observations: how often each rule applied and was broken, the outcomes of calls, and
// the facts about agents, each by link and in bounded memory.
package tally

import (
	"maps"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// A Counter counts for one engine.
type Counter struct {
	Counts judgment.Counts // those of exchanges, streams and events
	judgment.Account
	agents

	rules    []*analysis.Rule
	links    linkNames
	calls    linkCalls
	byLane   map[lane][]count // for each counted lane, the counts by rule
	lastLane lane             // the lane of the last lookup
	last     []count          // nil before the first
}

// A lane is one kind of traffic on a link: its notifications, or everything else.
type lane struct {
	link          analysis.Link
	notifications bool
}

// compare orders lanes by their links, notifications last.
func (l lane) compare(m lane) int {
	switch {
	case l.link != m.link:
		return l.link.Compare(m.link)
	case l.notifications == m.notifications:
		return 0
	case m.notifications:
		return -1
	}
	return 1
}

// A count is how often a rule applied and was broken.
type count struct{ applied, broken int }

// New returns a counter for the rules.
func New(rules []*analysis.Rule) *Counter {
	c := &Counter{rules: rules, byLane: make(map[lane][]count)}
	c.agents.links, c.calls = &c.links, newLinkCalls(&c.links)
	return c
}

// Beside returns a counter for the same rules that has counted nothing yet.
func (c *Counter) Beside() *Counter { return New(c.rules) }

// Note registers a link. Call it in the order of the recording, so that each part of a capture counts the same links
// separately.
func (c *Counter) Note(l analysis.Link) { c.links.note(l) }

// On returns the counts of a link for exchanges with an operation, until others are asked for.
func (c *Counter) On(link analysis.Link, op a2a.Operation) Rules {
	return c.of(lane{link, op == a2a.Webhook})
}

// Rules counts for each rule of a lane how often it applied and was broken.
type Rules []count

// Applied counts that a rule, by its number, applied.
func (r Rules) Applied(rule int, broken bool) {
	r[rule].applied++
	if broken {
		r[rule].broken++
	}
}

// Forget drops the counts by rule.
func (c *Counter) Forget() {
	clear(c.byLane)
	c.last = nil
}

// Add adds the differences between two counts of the same rules: how often each rule applied and was broken.
func (c *Counter) Add(more, than *Counter) {
	for at, list := range more.byLane {
		for rule, n := range list {
			var old count
			if known := than.byLane[at]; known != nil {
				old = known[rule]
			}
			if n.applied > old.applied || n.broken > old.broken {
				to := &c.of(at)[rule]
				to.applied += max(n.applied-old.applied, 0)
				to.broken += max(n.broken-old.broken, 0)
			}
		}
	}
}

// of returns the counts of a lane.
func (c *Counter) of(at lane) []count {
	if c.last != nil && c.lastLane == at {
		return c.last
	}
	counted := lane{c.links.counted(at.link), at.notifications}
	list, ok := c.byLane[counted]
	if !ok {
		list = make([]count, len(c.rules))
		c.byLane[counted] = list
	}
	c.lastLane, c.last = at, list
	return list
}

// Refused records that a call was answered with a protocol error.
func (c *Counter) Refused(x *analysis.Exchange) { c.agents.of(x).Refused++ }

// Completed records that a task was seen completed.
func (c *Counter) Completed(x *analysis.Exchange) { c.agents.of(x).Completed++ }

// Over counts an exchange that has ended, or is open at the end.
func (c *Counter) Over(s *summary.Summary) {
	added := c.Account.Take(s)
	added.Unheard = s.Call && s.NotHeard
	c.calls.add(added)
	for _, change := range c.Account.Changed() {
		c.calls.correct(change)
	}
}

// Close ends the counting: no exchange follows.
func (c *Counter) Close() {
	for _, change := range c.Account.Close() {
		c.calls.correct(change)
	}
}

// Total returns the counts, including those of calls.
func (c *Counter) Total() judgment.Counts {
	total := c.Counts
	for _, calls := range c.calls.byLink {
		total.Calls, total.Failed = total.Calls+calls.Made, total.Failed+calls.Failed
		if !calls.Proved() {
			total.Unproved++
		}
	}
	return total
}

// Coverage returns, for each rule and link, how often the rule applied and was broken: in the order of the rules, then
// of the links, the notifications of a link last. It omits rules that never applied on a link.
func (c *Counter) Coverage() []judgment.Coverage {
	lanes := slices.SortedFunc(maps.Keys(c.byLane), lane.compare)
	var list []judgment.Coverage
	for i, r := range c.rules {
		for _, at := range lanes {
			if n := c.byLane[at][i]; n.applied > 0 {
				list = append(list, judgment.Coverage{
					Rule: r, Link: at.link, Notifications: at.notifications, Applied: n.applied, Broken: n.broken,
				})
			}
		}
	}
	return list
}

// Calls returns the outcomes of the calls of each link, in the order of the links.
func (c *Counter) Calls() []judgment.Calls {
	list := make([]judgment.Calls, 0, len(c.calls.byLink))
	for _, calls := range c.calls.byLink {
		list = append(list, *calls)
	}
	slices.SortFunc(list, func(a, b judgment.Calls) int { return a.Link.Compare(b.Link) })
	return list
}

// Agents returns the observed facts about each agent, in order of first appearance.
func (c *Counter) Agents() []judgment.Agent {
	list := make([]judgment.Agent, 0, len(c.agents.order))
	for _, a := range c.agents.order {
		list = append(list, *a)
	}
	return slices.Clip(list)
}
