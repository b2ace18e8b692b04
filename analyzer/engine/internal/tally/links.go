package tally

import (
	"hash/maphash"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
)

// Bounds of the counts by link. A report has a row for each link. Clients choose their names, possibly a new one for
// each request, and users of a forward proxy choose the names of agents.
const (
	maxLinks    = 1000      // that are counted separately
	maxAgents   = 1000      // that are named
	maxUnproved = 10_000    // further ones without a call that has succeeded
	maxProved   = 1_000_000 // further ones with one
)

// linkNames are the links that are counted separately, and the agents that are named: the first ones noted.
type linkNames struct {
	named  map[analysis.Link]bool
	agents map[string]bool

	last, lastCounted analysis.Link // the last lookup and its result; zero before the first
}

// note registers a link. Call it in the order of the recording, so that each part of a capture names the same links.
func (n *linkNames) note(l analysis.Link) {
	if n.named[l] {
		return
	}
	n.last, n.lastCounted = analysis.Link{}, analysis.Link{}
	if n.named == nil {
		n.named, n.agents = make(map[analysis.Link]bool), make(map[string]bool)
	}
	if len(n.agents) < maxAgents {
		n.agents[l.Agent] = true
	}
	if len(n.named) < maxLinks && n.agents[l.Agent] {
		n.named[l] = true
	}
}

// counted returns the link that counts a registered link.
func (n *linkNames) counted(l analysis.Link) analysis.Link {
	if l != n.last || n.lastCounted == (analysis.Link{}) {
		n.last, n.lastCounted = l, n.lookUp(l)
	}
	return n.lastCounted
}

func (n *linkNames) lookUp(l analysis.Link) analysis.Link {
	switch {
	case n.named[l]:
		return l
	case n.agents[l.Agent]:
		return analysis.Link{Client: judgment.OtherClients, Agent: l.Agent}
	}
	return analysis.Link{Client: judgment.OtherClients, Agent: judgment.OtherAgents}
}

// linkCalls counts the outcomes of calls for each link. A link has its own count if it is one of the named links, or
// while none of its calls has succeeded, since the verdict must report such links.
type linkCalls struct {
	names    *linkNames
	byLink   map[analysis.Link]*judgment.Calls
	unproved int                 // how many of these are counted for the latter reason
	seed     maphash.Seed        // of the hashes below
	proved   map[uint64]struct{} // links with a successful call, which are counted with others since
}

func newLinkCalls(names *linkNames) linkCalls {
	return linkCalls{
		names: names, byLink: make(map[analysis.Link]*judgment.Calls), seed: maphash.MakeSeed(), proved: make(map[uint64]struct{}),
	}
}

// add counts an exchange.
func (l *linkCalls) add(c judgment.Calls) {
	link := c.Link
	counted := l.names.counted(link)
	if counted == link || c.Made == 0 {
		c.Link = counted
		l.of(counted).Merge(&c)
		return
	}
	hash := maphash.Comparable(l.seed, link)
	own := l.byLink[link]
	_, proved := l.proved[hash]
	switch {
	case proved:
		l.of(counted).Merge(&c)
	case c.Succeeded > 0:
		if own != nil {
			c.Merge(own)
			delete(l.byLink, link)
			l.unproved--
		}
		if len(l.proved) < maxProved {
			l.proved[hash] = struct{}{}
		}
		l.of(counted).Merge(&c)
	case own != nil:
		own.Merge(&c)
	case l.unproved < maxUnproved:
		l.unproved++
		l.of(link).Merge(&c)
	default:
		c.Unproved = true
		l.of(counted).Merge(&c)
	}
}

// correct changes the counts of a link for calls that were counted already.
func (l *linkCalls) correct(c judgment.Calls) {
	if l.byLink[c.Link] == nil {
		c.Link = l.names.counted(c.Link)
	}
	l.of(c.Link).Merge(&c)
}

// of returns the counts of a link.
func (l *linkCalls) of(link analysis.Link) *judgment.Calls {
	c := l.byLink[link]
	if c == nil {
		c = &judgment.Calls{Link: link}
		l.byLink[link] = c
	}
	return c
}
