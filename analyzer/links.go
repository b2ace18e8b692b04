package analyzer

import "hash/maphash"

// Bounds of what is counted by link. A report has something for each, and clients name themselves, otherwise in each
// request if they like; who uses a forward proxy names its agents.
const (
	maxLinks    = 1000      // that are counted by themselves
	maxAgents   = 1000      // that are named
	maxUnproved = 10_000    // further ones without a call that has succeeded
	maxProved   = 1_000_000 // further ones with one
)

// How clients and agents are called that are counted together, since their links came after too many others. No client
// names itself so: a product in User-Agent has no blank (RFC 9110 section 10.1.5).
const (
	OtherClients = "other clients"
	OtherAgents  = "other agents"
)

// linkNames are the links that are counted by themselves, and the agents that are named: those that were noted first.
type linkNames struct {
	named  map[Link]bool
	agents map[string]bool
}

// note takes a link into account. It is called in the order of the record, so that each part of a capture names the
// same links.
func (n *linkNames) note(l Link) {
	if n.named == nil {
		n.named, n.agents = make(map[Link]bool), make(map[string]bool)
	}
	if len(n.agents) < maxAgents {
		n.agents[l.Agent] = true
	}
	if len(n.named) < maxLinks && n.agents[l.Agent] {
		n.named[l] = true
	}
}

// counted returns the link as which one is counted that was noted.
func (n *linkNames) counted(l Link) Link {
	switch {
	case n.named[l]:
		return l
	case n.agents[l.Agent]:
		return Link{OtherClients, l.Agent}
	}
	return Link{OtherClients, OtherAgents}
}

// Counted returns a function that tells as which link of Coverage a link is counted: itself, unless it is among the
// others.
func (r *Result) Counted() func(Link) Link {
	has := make(map[Link]bool)
	for i := range r.Coverage {
		has[r.Coverage[i].Link] = true
	}
	return func(l Link) Link {
		others, all := Link{OtherClients, l.Agent}, Link{OtherClients, OtherAgents}
		switch {
		case has[l]:
		case has[others]:
			return others
		case has[all]:
			return all
		}
		return l
	}
}

// linkCalls counts how calls came out, for each link: by itself if it is one of those that are, or as long as none of
// its calls has succeeded, which a verdict has to say.
type linkCalls struct {
	names    *linkNames
	byLink   map[Link]*Calls
	unproved int                 // of these, how many are there for the latter reason
	seed     maphash.Seed        // of the hashes below
	proved   map[uint64]struct{} // links of which a call has succeeded, and that are counted with others since
}

func newLinkCalls(names *linkNames) linkCalls {
	return linkCalls{
		names: names, byLink: make(map[Link]*Calls), seed: maphash.MakeSeed(), proved: make(map[uint64]struct{}),
	}
}

// add counts a call that is over. Unheard is whether notifications that it asked for went past the recorder.
func (l *linkCalls) add(link Link, o Outcome, unheard bool) {
	counted := l.names.counted(link)
	c := Calls{Link: link, Unheard: unheard}
	c.add(o)
	if counted == link {
		l.of(link).merge(&c)
		return
	}
	hash := maphash.Comparable(l.seed, link)
	own := l.byLink[link]
	_, proved := l.proved[hash]
	switch {
	case proved:
		l.of(counted).merge(&c)
	case o.Succeeded:
		if own != nil {
			c.merge(own)
			delete(l.byLink, link)
			l.unproved--
		}
		if len(l.proved) < maxProved {
			l.proved[hash] = struct{}{}
		}
		l.of(counted).merge(&c)
	case own != nil:
		own.merge(&c)
	case l.unproved < maxUnproved:
		l.unproved++
		l.of(link).merge(&c)
	default:
		c.Unproved = true
		l.of(counted).merge(&c)
	}
}

// of returns the counts of a link.
func (l *linkCalls) of(link Link) *Calls {
	c := l.byLink[link]
	if c == nil {
		c = &Calls{Link: link}
		l.byLink[link] = c
	}
	return c
}
