package version

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/early"
	"a2atap/analyzer/track/stream"
	"a2atap/proxy/a2a"
)

// Legacy is the family of rules about the common behavior of agents from before 0.1. No text defines it explicitly: 0.1
// names the members and methods, and the clients of that time need them.
var Legacy = rule.Family{
	Name:     "legacy",
	Side:     a2a.Agent,
	On:       analysis.EarlySeen,
	Bindings: rule.OnRPC,
}.Of(
	legacyCardComplete,
	legacyStreamEvents,
	legacyHistoryPromised,
	legacyCancelRefused,
	legacyWebhookRefused,
)

var legacyCardComplete = &analysis.Rule{
	ID:       "legacy-card-complete",
	Title:    "agent card from before 0.1 is not complete",
	Category: analysis.AgentCard,
	Level:    analysis.Advice,
	Gravest:  analysis.Warning,
	On:       analysis.CardSeen | analysis.EarlySeen,
	Needs:    []*analysis.Tracker{early.Tracker},
	Bindings: rule.OnJSON,
	Cites:    rule.Cite("5.5", a2a.V0_1),
	Stands:   "0.1.0:163",
	Doc: `Before 0.1 a card described the agent and each skill, and named the modes of each skill. With the schemes
oauth2 and apiKey it said where to get the token and in which header to send the key. A client of that time finds no
skill to use, or cannot authenticate.`,
	Fix: `Add the members that the message names. tokenUrl belongs in authentication.credentials.oauth2, headerName in
authentication.credentials.apiKey.`,
	Silent: `Cards that may follow the published 0.1, where these members are optional, if no call shows that the
agent is older (a stream at /subscribe, or a history of states); values that the recorder has redacted. At most four
different cards of such an agent are checked.`,
	Check: func(p *analysis.Pass) {
		shown := ""
		switch {
		case p.Kind == analysis.EarlySeen && early.Of(p).Card != nil:
			shown = ", which " + early.Of(p).Shown.String() + " shows its agent to be from"
		case p.Kind == analysis.EarlySeen || !p.Card.Early():
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
			p.Report(p.Place, "the card lacks "+list, "expected them in a card from before 0.1"+shown)
		}
	},
}

var legacyStreamEvents = &analysis.Rule{
	ID:       "legacy-stream-events",
	Title:    "event out of place in a stream from before 0.1",
	Category: analysis.Streaming,
	Level:    analysis.Advice,
	Gravest:  analysis.Warning,
	Once:     analysis.PerExchange,
	On:       analysis.EventSeen,
	Needs:    []*analysis.Tracker{stream.Tracker},
	Cites:    rule.Cite("7.2", a2a.V0_1),
	Stands:   "0.1.0:839",
	Doc: `A stream from before 0.1, at an address that ends in /subscribe, begins with the status submitted or
working, and each of its events is named status or artifact after its content. Clients of that time listen for these
names, and never see an event without one. A task is working between submitted and completed or input-required, and
between input-required and completed.`,
	Fix: `Write event: status or event: artifact before the data, send the status submitted or working first, and an event
for each status after it.`,
	Silent: `Streams at other addresses; errors; data without A2A content; a stream that begins with a question to the
client. A missing working status is a note. Only the first such event in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		if !p.Exchange.Call.Early || p.Answer == nil || p.Answer.Err != nil {
			return
		}
		name, what, u := "", "", a2a.StatusUpdate{Value: p.Answer.Payload.Value}
		switch p.Answer.Payload.Kind {
		case a2a.StatusPayload:
			name, what = "status", "a status"
		case a2a.ArtifactPayload:
			name, what = "artifact", "an artifact"
		case a2a.TaskPayload, a2a.UnknownPayload:
			if t := p.Answer.Payload; t.Value.Has("id") && !t.Value.Has("status") {
				p.Applied()
				p.Report(p.Place.At(t.Pointer), "the event has neither a status nor an artifact", "expected one of them")
			}
			return
		default:
			return
		}
		p.Applied()
		at := p.Place.At(p.Answer.Payload.Pointer)
		switch got := string(p.Event.Fields.Type); {
		case got != name && got == "":
			p.Report(p.Place, "the event has no name, and holds "+what, "expected event: "+name)
		case got != name:
			p.Report(p.Place, "the event is named "+analysis.QuoteText(got)+", and holds "+what, "expected event: "+name)
		case rule.OpensStream(p) && name == "artifact":
			p.Report(at, "the stream begins with an artifact", "expected the status submitted or working first")
		case rule.OpensStream(p) && u.State().Terminal():
			p.Report(at, "the stream begins with the state "+analysis.QuoteText(u.StateText()),
				"expected the status submitted or working first")
		case name == "status":
			before := stream.Of(p).In(p.Exchange)
			if before.TaskID != u.TaskID() || !before.State.Known() {
				return
			}
			switch now := u.State(); {
			case now == a2a.Submitted && before.State != a2a.Submitted:
				p.Report(at, "the task is submitted after another state", "expected submitted first, and never again")
			case before.State == a2a.Submitted && (now == a2a.Completed || now == a2a.InputRequired),
				before.State == a2a.InputRequired && now == a2a.Completed:
				p.Report(at, fmt.Sprintf("the task is %s right after %s", now, before.State),
					"expected the state working between them", analysis.AtMost(analysis.Note))
			}
		}
	},
}

var legacyHistoryPromised = &analysis.Rule{
	ID:       "legacy-history-promised",
	Title:    "promised history of states is missing",
	Category: analysis.Lifecycle,
	Level:    analysis.Advice,
	Gravest:  analysis.Warning,
	Needs:    []*analysis.Tracker{early.Tracker},
	Cites:    rule.Cite("5.5.2", a2a.V0_1),
	Stands:   "0.1.0:246",
	Doc: `The card says stateTransitionHistory:true, and a client that asks for the history of an ended task gets
fewer than two states, although the task was at least submitted and ended.`,
	Fix: `Keep every status of a task and return them as its history, or remove the flag from the card.`,
	Silent: `Agents that follow the published 0.1, whose history holds messages; clients that ask for fewer than two
entries; tasks that are not completed. Of the calls before the agent's version became known, only the first few are
checked.`,
	Check: func(p *analysis.Pass) {
		n := early.Of(p).History
		if n == nil {
			return
		}
		p.Applied()
		if *n < 2 {
			p.Report(p.Place, "the task has "+analysis.Plural(int(*n), "state")+" in its history",
				"expected its states, as stateTransitionHistory of the card promises")
		}
	},
}

var legacyCancelRefused = &analysis.Rule{
	ID:       "legacy-cancel-refused",
	Title:    "active task could not be canceled before 0.1",
	Category: analysis.Lifecycle,
	Level:    analysis.Advice,
	Needs:    []*analysis.Tracker{early.Tracker},
	Cites:    rule.Cite("7.4", a2a.V0_1),
	Stands:   "0.1.0:948",
	Doc: `The cancellation of a task was refused because it could not be canceled, but the task was active afterwards.
Before 0.1 the code -32002 meant that a state transition was not possible, and every state that was not an end allowed
canceled. The text of 0.1 leaves it to the agent.`,
	Fix: `Stop the work and answer with the canceled task. Refuse with -32002 only if the task has ended.`,
	Silent: `Refusals with another error; tasks that had ended before, have received a message since, or were not seen
afterwards. The finding is a note, since later texts let an agent refuse.`,
	Check: func(p *analysis.Pass) {
		c := early.Of(p).Cancel
		if c == nil {
			return
		}
		p.Report(p.Place,
			fmt.Sprintf("the cancellation of task %s is refused with %s, and it is %s at %s", analysis.QuoteText(c.Task.TaskID),
				c.Refusal, analysis.QuoteText(c.Task.Spelling), c.Task.StatePlace()), "expected the task to be canceled")
	},
}

var legacyWebhookRefused = &analysis.Rule{
	ID:       "legacy-webhook-refused",
	Title:    "webhook without TLS refused with another error than before 0.1",
	Category: analysis.ErrorHandling,
	Level:    analysis.Advice,
	Needs:    []*analysis.Tracker{early.Tracker},
	Cites:    rule.Cite("6.8", a2a.V0_1),
	Stands:   "0.1.0:659",
	Doc: `A webhook has to use https, and before 0.1 one that did not was refused with -32004. With another code a
client of that time looks for the problem in the rest of its request.`,
	Fix: `Answer -32004 if you refuse the webhook because of its scheme.`,
	Silent: `Refusals whose text does not mention https or TLS; agent-specific codes. The finding is a note: the text
of 0.1 gives that code another meaning.`,
	Check: func(p *analysis.Pass) {
		failure := early.Of(p).Webhook
		if failure == nil || !speaksOfTLS(failure.Message) {
			return
		}
		p.Applied()
		switch failure.Name {
		case a2a.InvalidParams, a2a.InvalidRequest, a2a.InternalError, a2a.MethodNotFound, a2a.ParseError:
			p.Report(p.Place, "a webhook without TLS is refused with "+failure.String()+", which says "+
				analysis.QuoteText(failure.Message), "expected -32004")
		}
	},
}

// speaksOfTLS reports whether an error's text demands encryption.
func speaksOfTLS(message string) bool {
	text := strings.ToLower(message)
	return strings.Contains(text, "https") || strings.Contains(text, "tls") || strings.Contains(text, "secure")
}
