package analyzer

// maxLinks bounds how many links are counted by themselves. A report has something for each, and clients name
// themselves, otherwise in each request if they like.
const maxLinks = 1000

// How clients and agents are called that are counted together, since their links came after too many others. No client
// names itself so: a product in User-Agent has no blank (RFC 9110 section 10.1.5).
const (
	OtherClients = "other clients"
	OtherAgents  = "other agents"
)

// linkNames are the links that are counted by themselves: those that were noted first.
type linkNames struct {
	named  map[Link]bool
	agents map[string]bool // of these
}

// note takes a link into account. It is called in the order of the record, so that each part of a capture names the
// same links.
func (n *linkNames) note(l Link) {
	if n.named == nil {
		n.named, n.agents = make(map[Link]bool), make(map[string]bool)
	}
	if len(n.named) < maxLinks {
		n.named[l], n.agents[l.Agent] = true, true
	}
}

// counted returns the link as which one is counted that was noted.
func (n *linkNames) counted(l Link) Link {
	switch {
	case n.named[l], len(n.named) < maxLinks:
		return l
	case n.agents[l.Agent]:
		return Link{OtherClients, l.Agent}
	}
	return Link{OtherClients, OtherAgents}
}

// Counted returns a function that tells as which link of the result a link is counted: itself, unless it is among the
// others.
func (r *Result) Counted() func(Link) Link {
	has := make(map[Link]bool)
	for i := range r.Coverage {
		has[r.Coverage[i].Link] = true
	}
	for i := range r.Calls {
		has[r.Calls[i].Link] = true
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
