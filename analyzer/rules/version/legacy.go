package version

import (
	"fmt"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/rules/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Legacy is the family of rules about what agents have in common that were written before 0.1 was. No text lays it down
// in so many words: 0.1 names the members and methods, and the clients of that time need them so.
var Legacy = rule.Family{
	Name: "legacy",
	Side: a2a.Agent,
}.Of(
	LegacyCardComplete,
	LegacyStreamEvents,
	LegacyHistoryPromised,
)

// LegacyCardComplete reports a card from before 0.1 that lacks what clients of that time read.
var LegacyCardComplete = &analyzer.Rule{
	ID:       "legacy-card-complete",
	Title:    "agent card from before 0.1 is not complete",
	Category: analyzer.AgentCard,
	Level:    analyzer.Advice,
	Gravest:  analyzer.Warning,
	On:       analyzer.CardSeen,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("5.5", a2a.V0_1),
	Doc: `Before 0.1 a card described the agent and each skill, named the modes of each skill, and told with the schemes
oauth2 and apiKey where the token is to be had and in which header the key is to be sent. A client of that time finds no
skill to use, or cannot authenticate.`,
	Fix: `Add the members that the message names. tokenUrl stands in authentication.credentials.oauth2, headerName in
authentication.credentials.apiKey.`,
	Silent: `Cards that may be of 0.1 as it was written down, where these members are optional; what the recorder has
hidden.`,
	Check: func(p *analyzer.Pass) {
		if !p.Card.Early() {
			return
		}
		p.Applied()
		var missing []string
		want := func(pointer string, there bool) {
			if !there {
				missing = append(missing, fmt.Sprintf("%q", strings.TrimPrefix(pointer, "/")))
			}
		}
		text := func(pointer string) { want(pointer, p.Card.At(pointer).Text() != "") }
		text("/description")
		for i, skill := range p.Card.Get("skills").Elems() {
			text(a2a.Ptr("/skills", i, "description"))
			for _, modes := range [...]string{"inputModes", "outputModes"} {
				want(a2a.Ptr("/skills", i, modes), skill.Get(modes).Len() > 0)
			}
		}
		for _, scheme := range p.Card.Get("authentication").Get("schemes").Elems() {
			switch strings.ToLower(scheme.Text()) {
			case "oauth2":
				text("/authentication/credentials/oauth2/tokenUrl")
			case "apikey":
				text("/authentication/credentials/apiKey/headerName")
			}
		}
		if n := len(missing); n > 0 {
			list := strings.Join(missing[:min(n, rule.MaxNamed)], ", ")
			if n > rule.MaxNamed {
				list += fmt.Sprintf(" and %d more", n-rule.MaxNamed)
			}
			p.Report(p.Place, "the card lacks "+list, "expected them in a card as it was before 0.1")
		}
	},
}

// LegacyStreamEvents reports an event that has no place in a stream from before 0.1.
var LegacyStreamEvents = &analyzer.Rule{
	ID:       "legacy-stream-events",
	Title:    "event of a stream from before 0.1 out of place",
	Category: analyzer.Streaming,
	Level:    analyzer.Advice,
	Gravest:  analyzer.Warning,
	Once:     analyzer.PerExchange,
	On:       analyzer.EventSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2", a2a.V0_1),
	Doc: `A stream from before 0.1, at an address that ends in /subscribe, begins with the status submitted or working, and
each of its events is named status or artifact for what it holds. Clients of that time listen for these names, and never
hear of an event without one.`,
	Fix: `Write event: status or event: artifact before the data, and send the status submitted or working first.`,
	Silent: `Streams at other addresses; errors; data that hold nothing of A2A; a stream that begins with a question to the
client. Of several such events in a stream the first
is reported.`,
	Check: func(p *analyzer.Pass) {
		if !p.Exchange.Call.Early || p.Answer == nil || p.Answer.Err != nil {
			return
		}
		name, what, u := "", "", a2a.StatusUpdate{Value: p.Answer.Payload.Value}
		switch p.Answer.Payload.Kind {
		case a2a.StatusPayload:
			name, what = "status", "a status"
		case a2a.ArtifactPayload:
			name, what = "artifact", "an artifact"
		default:
			return
		}
		p.Applied()
		at := p.Place.At(p.Answer.Payload.Pointer)
		switch got := string(p.Event.Fields.Type); {
		case got != name && got == "":
			p.Report(p.Place, "the event has no name, and holds "+what, "expected event: "+name)
		case got != name:
			p.Report(p.Place, "the event is named "+analyzer.QuoteText(got)+", and holds "+what, "expected event: "+name)
		case rule.OpensStream(p) && name == "artifact":
			p.Report(at, "the stream begins with an artifact", "expected the status submitted or working first")
		case rule.OpensStream(p) && u.State().Terminal():
			p.Report(at, "the stream begins with the state "+analyzer.QuoteText(u.StateText()),
				"expected the status submitted or working first")
		}
	},
}

// LegacyHistoryPromised reports a task without the history of states that the card promises.
var LegacyHistoryPromised = &analyzer.Rule{
	ID:       "legacy-history-promised",
	Title:    "history of states promised and not given",
	Category: analyzer.Lifecycle,
	Level:    analyzer.Advice,
	Gravest:  analyzer.Warning,
	On:       analyzer.OutcomeSeen,
	Needs:    []*analyzer.Tracker{card.Tracker},
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("5.5.2", a2a.V0_1),
	Doc: `The card says stateTransitionHistory:true, and a client that asks for the history of a task which has ended is told
less than two states: at least it was submitted, and it ended.`,
	Fix: `Keep each status that a task has had and tell them as its history; or take the flag out of the card.`,
	Silent: `Agents that speak 0.1 as it was written down, whose history holds messages; clients that ask for less than two
entries; tasks that are not completed.`,
	Check: func(p *analyzer.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.GetTask || !x.Endpoint.Early || x.Call.HistoryLength < 2 || p.Answer == nil ||
			p.Answer.Payload.Kind != a2a.TaskPayload {
			return
		}
		promised := false
		for _, c := range card.Of(p).Before(x) {
			flag, _ := c.Get("capabilities").Get("stateTransitionHistory").Bool()
			promised = promised || flag
		}
		t := a2a.Task{Value: p.Answer.Payload.Value}
		if !promised || t.State() != a2a.Completed {
			return
		}
		p.Applied()
		if n := t.Get("history").Len(); n < 2 {
			p.Report(p.Place.At(p.Answer.Payload.Pointer), "the task has "+analyzer.Plural(n, "state")+" in its history",
				"expected those that it went through, as stateTransitionHistory of the card says")
		}
	},
}
