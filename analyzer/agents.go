package analyzer

import (
	"slices"

	"a2atap/proxy/a2a"
)

// An Agent is what was seen of one agent, for the head of a report.
type Agent struct {
	Link       string                // its name in links
	URL        string                // where it really lives
	Name       string                // that its newest public card gives; empty if no card was seen
	Version    string                // the same
	Streaming  bool                  // a card advertises it
	Push       bool                  // the same
	Operations map[a2a.Operation]int // how often each was answered without an error
	Completed  int                   // tasks that were seen completed, each as often as it was seen
	Refused    int                   // calls that were answered with an error of the protocol
	BadCard    string                // why a public card is none: no JSON, or without a name; empty if none was
	Contacts   map[string]Contact    // with each client, by its name
}

// A Contact is what one client had answered by an agent.
type Contact struct {
	Operations map[a2a.Operation]int // how often each was answered without an error
	AtOnce     int                   // messages of them that were answered while another one waited for its answer
}

// add adds another contact with the same client.
func (c Contact) add(other Contact) Contact {
	operations := make(map[a2a.Operation]int)
	for _, from := range []Contact{c, other} {
		for op, n := range from.Operations {
			operations[op] += n
		}
	}
	return Contact{Operations: operations, AtOnce: c.AtOnce + other.AtOnce}
}

// agents keeps one Agent for each name, in order of first appearance.
type agents struct {
	links   *linkNames
	byName  map[string]*Agent
	order   []*Agent
	sending map[Link]int // messages that wait for their answer
}

func (a *agents) of(x *Exchange) *Agent {
	name := a.links.counted(x.Link).Agent
	if found := a.byName[name]; found != nil {
		return found
	}
	if a.byName == nil {
		a.byName = make(map[string]*Agent)
	}
	made := &Agent{Link: name, Operations: make(map[a2a.Operation]int), Contacts: make(map[string]Contact)}
	if name != OtherAgents {
		made.URL = x.Origin
	}
	a.byName[name] = made
	a.order = append(a.order, made)
	return made
}

func (a *agents) card(x *Exchange, c *a2a.Card) {
	agent := a.of(x)
	if agent.Link == OtherAgents {
		return // they have many cards
	}
	if agent.Name == "" || x.Call.Operation == a2a.GetCard {
		agent.Name, agent.Version = c.Get("name").Text(), c.Get("version").Text()
		if agent.Name == "" {
			agent.BadCard = "has no name"
		}
	}
	agent.Streaming = agent.Streaming || c.Streaming.True()
	agent.Push = agent.Push || c.Push.True()
}

// badCard notes that a public card is none, and why.
func (a *agents) badCard(x *Exchange, why string) {
	if agent := a.of(x); agent.Link != OtherAgents {
		agent.BadCard = why
	}
}

func (a *agents) answered(x *Exchange) {
	agent := a.of(x)
	agent.Operations[x.Call.Operation]++
	client := a.links.counted(x.Link).Client
	contact := agent.Contacts[client]
	if contact.Operations == nil {
		contact.Operations = make(map[a2a.Operation]int)
	}
	contact.Operations[x.Call.Operation]++
	if sends(x) && a.sending[x.Link] > 1 {
		contact.AtOnce++
	}
	agent.Contacts[client] = contact
}

// sends reports whether an exchange sends a message.
func sends(x *Exchange) bool {
	return x.Call.Operation == a2a.SendMessage || x.Call.Operation == a2a.SendStreamingMessage
}

// asked notes that a request has been read.
func (a *agents) asked(in *intake) {
	if !sends(in.x) {
		return
	}
	if a.sending == nil {
		a.sending = make(map[Link]int)
	}
	in.sending = in.x.Link
	a.sending[in.sending]++
}

// ended notes that an exchange is over.
func (a *agents) ended(in *intake) {
	if in.sending == (Link{}) {
		return
	}
	if a.sending[in.sending]--; a.sending[in.sending] == 0 {
		delete(a.sending, in.sending)
	}
	in.sending = Link{}
}

// Agents returns what was seen of each agent, in order of first appearance.
func (e *Engine) Agents() []Agent {
	list := make([]Agent, 0, len(e.agents.order))
	for _, a := range e.agents.order {
		list = append(list, *a)
	}
	return slices.Clip(list)
}
