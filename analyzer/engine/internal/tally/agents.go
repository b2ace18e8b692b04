package tally

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
)

// agents has one Agent for each name, in order of first appearance.
type agents struct {
	links  *linkNames
	byName map[string]*judgment.Agent
	order  []*judgment.Agent
	atWork
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

// Card records a card's facts about its agent.
func (a *agents) Card(x *analysis.Exchange, c *a2a.Card) {
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

// BadCard records that a public card is unusable, and why.
func (a *agents) BadCard(x *analysis.Exchange, why string) {
	if agent := a.of(x); agent.Link != judgment.OtherAgents {
		agent.BadCard = why
	}
}

// Answered records that a call was answered without an error.
func (a *agents) Answered(x *analysis.Exchange) {
	agent := a.of(x)
	agent.Operations[x.Call.Operation]++
	client := a.links.counted(x.Link).Client
	contact := agent.Contacts[client]
	if contact.Operations == nil {
		contact.Operations = make(map[a2a.Operation]int)
	}
	contact.Operations[x.Call.Operation]++
	agent.Contacts[client] = contact
}

// Task records that a task was seen in a state, and counts tasks that were active in parallel.
func (a *agents) Task(x *analysis.Exchange, seen *analysis.TaskObservation) {
	more := a.seen(x, seen)
	if more == 0 {
		return
	}
	agent, client := a.of(x), a.links.counted(x.Link).Client
	contact := agent.Contacts[client]
	contact.AtOnce += more
	agent.Contacts[client] = contact
}
