// Package tally counts what an engine observes: how often each rule applied and was broken, how calls came out, and what
// agents have shown, each by link and in bounded memory.
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

	rules    []*analysis.Rule
	links    linkNames
	calls    linkCalls
	agents   agents
	account  judgment.Account
	byLane   map[lane][]count // for each lane that is counted, one for each rule
	lastLane lane             // whose counts were asked for last
	last     []count          // nil as long as none were
}

// A lane is one kind of traffic on a link: its notifications, or all else.
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

// A count says how often a rule applied and was broken.
type count struct{ applied, broken int }

// New returns a counter for the rules.
func New(rules []*analysis.Rule) *Counter {
	c := &Counter{rules: rules, byLane: make(map[lane][]count)}
	c.agents.links, c.calls = &c.links, newLinkCalls(&c.links)
	return c
}

// Beside returns a counter for the same rules that has counted nothing yet.
func (c *Counter) Beside() *Counter { return New(c.rules) }

// Note takes a link into account. It is called in the order of the record, so that each part of a capture counts the
// same links by themselves.
func (c *Counter) Note(l analysis.Link) { c.links.note(l) }

// On returns the counts of a link for exchanges with an operation, until others are asked for.
func (c *Counter) On(link analysis.Link, op a2a.Operation) Rules {
	return c.of(lane{link, op == a2a.Webhook})
}

// Rules counts for each rule of a lane how often it applied and was broken.
type Rules []count

// Applied counts that a rule, by its number, had something to judge.
func (r Rules) Applied(rule int, broken bool) {
	r[rule].applied++
	if broken {
		r[rule].broken++
	}
}

// Forget gives up what was counted by rule.
func (c *Counter) Forget() {
	clear(c.byLane)
	c.last = nil
}

// Add adds by how much rules applied more, and were broken more, in one count than in another one of the same rules.
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

// Asked notes that a request has been read. It returns what Ended is to be told when the exchange is over: the link on
// which its message waits for an answer, the zero Link if there is none.
func (c *Counter) Asked(x *analysis.Exchange) (waits analysis.Link) { return c.agents.asked(x) }

// Ended notes that a message waits for its answer no longer.
func (c *Counter) Ended(waited analysis.Link) {
	if waited != (analysis.Link{}) {
		c.agents.ended(waited)
	}
}

// Answered notes that a call was answered without an error.
func (c *Counter) Answered(x *analysis.Exchange) { c.agents.answered(x) }

// Refused notes that a call was answered with an error of the protocol.
func (c *Counter) Refused(x *analysis.Exchange) { c.agents.of(x).Refused++ }

// Completed notes that a task was seen completed.
func (c *Counter) Completed(x *analysis.Exchange) { c.agents.of(x).Completed++ }

// Card notes what a card says of its agent.
func (c *Counter) Card(x *analysis.Exchange, card *a2a.Card) { c.agents.card(x, card) }

// BadCard notes that a public card is none, and why.
func (c *Counter) BadCard(x *analysis.Exchange, why string) { c.agents.badCard(x, why) }

// Over counts an exchange that is over, or open at the end.
func (c *Counter) Over(s *summary.Summary) {
	added := c.account.Take(s)
	added.Unheard = s.Call && s.NotHeard
	c.calls.add(added)
	for _, change := range c.account.Changed() {
		c.calls.correct(change)
	}
}

// Close says that no exchange follows.
func (c *Counter) Close() {
	for _, change := range c.account.Close() {
		c.calls.correct(change)
	}
}

// Failed returns the calls that failed or were refused, those together that failed alike.
func (c *Counter) Failed() []judgment.FailedCalls { return c.account.Failed() }

// Gap notes a loss in the record of which only the reason is known.
func (c *Counter) Gap(why string) { c.account.Gap(why) }

// NotSeen returns what was not seen, and why.
func (c *Counter) NotSeen() []judgment.NotSeen { return c.account.Gaps() }

// Total returns the counts, those of calls included.
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
// of the links, the notifications of a link last. Rules that never applied on a link are not in it.
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

// Calls returns how the calls of each link came out, in the order of the links.
func (c *Counter) Calls() []judgment.Calls {
	list := make([]judgment.Calls, 0, len(c.calls.byLink))
	for _, calls := range c.calls.byLink {
		list = append(list, *calls)
	}
	slices.SortFunc(list, func(a, b judgment.Calls) int { return a.Link.Compare(b.Link) })
	return list
}

// Agents returns what was seen of each agent, in order of first appearance.
func (c *Counter) Agents() []judgment.Agent {
	list := make([]judgment.Agent, 0, len(c.agents.order))
	for _, a := range c.agents.order {
		list = append(list, *a)
	}
	return slices.Clip(list)
}
