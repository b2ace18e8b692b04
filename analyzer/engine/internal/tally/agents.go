package tally

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
)

// agents keeps one Agent for each name, in order of first appearance.
type agents struct {
	links   *linkNames
	byName  map[string]*judgment.Agent
	order   []*judgment.Agent
	sending map[analysis.Link]int // messages that wait for their answer
}

func (a *agents) of(x *analysis.Exchange) *judgment.Agent {
	name := a.links.counted(x.Link).Agent
	if found := a.byName[name]; found != nil {
		return found
	}
	if a.byName == nil {
		a.byName = make(map[string]*judgment.Agent)
	}
	made := &judgment.Agent{Link: name, Operations: make(map[a2a.Operation]int), Contacts: make(map[string]judgment.Contact)}
	if name != judgment.OtherAgents {
		made.URL = x.Origin
	}
	a.byName[name] = made
	a.order = append(a.order, made)
	return made
}

func (a *agents) card(x *analysis.Exchange, c *a2a.Card) {
	agent := a.of(x)
	if agent.Link == judgment.OtherAgents {
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
func (a *agents) badCard(x *analysis.Exchange, why string) {
	if agent := a.of(x); agent.Link != judgment.OtherAgents {
		agent.BadCard = why
	}
}

func (a *agents) answered(x *analysis.Exchange) {
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
func sends(x *analysis.Exchange) bool {
	return x.Call.Operation == a2a.SendMessage || x.Call.Operation == a2a.SendStreamingMessage
}

// asked notes that a request has been read. It returns the link on which its message waits for an answer, the zero Link
// if there is none.
func (a *agents) asked(x *analysis.Exchange) (waits analysis.Link) {
	if !sends(x) {
		return waits
	}
	if a.sending == nil {
		a.sending = make(map[analysis.Link]int)
	}
	a.sending[x.Link]++
	return x.Link
}

// ended notes that a message that waited for its answer does so no longer.
func (a *agents) ended(waited analysis.Link) {
	if n := a.sending[waited]; n > 1 {
		a.sending[waited] = n - 1
	} else {
		delete(a.sending, waited)
	}
}
