package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Messages is the family of rules about the shape of a message, whoever sends it.
var Messages = rule.Family{
	Name:     "message",
	Category: analysis.Lifecycle,
	On:       analysis.MessageSeen,
	Bindings: rule.OnAll,
}.Of(
	msgObject,
	msgIDPresent,
	msgRoleEnum,
	msgRoleClient,
	msgRoleServer,
	msgPartsArray,
	msgPartsNonempty,
	msgKind,
	msgContextOnServerMessage,
)

var msgObject = &analysis.Rule{
	ID:       "msg-object",
	Title:    "message to send is missing or not an object",
	Level:    analysis.Must,
	Side:     a2a.Client,
	On:       analysis.RequestSeen | analysis.FrameSeen,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("7.1", rule.Before1...).And("3.2.1", a2a.V1_0),
	Stands:   "0.1.0:819 0.2.6:489 0.3.0:types:635 1.0.1:proto:652",
	Doc: `A send is about one thing: its message. An agent that is given none, or a text where the object should be, has
nothing to work on, and mostly answers that the parameters are invalid.`,
	Fix: `Put the message into the member "message" of the parameters, as an object with a role and parts.`,
	Silent: `Over HTTP+JSON the member "request" of 0.x is taken for the message. Parameters that are not an object,
and a body that is not JSON, are left to the rules about them.`,
	Check: func(p *analysis.Pass) {
		switch {
		case !p.Exchange.Call.Operation.Sends():
			return
		case p.Kind == analysis.RequestSeen:
			if lacksParams(p) {
				p.Report(p.Exchange.RequestPlace().Body(), "there are no parameters", "expected a message to send")
			}
			return
		case p.Entity.Type != a2a.ParamsEntity:
			return
		}
		p.Applied()
		message, name := p.Entity.Member("message"), "message"
		if !message.Exists() && p.Entity.Proto() {
			if message = p.Entity.Member("request"); message.Exists() {
				name = "request"
			}
		}
		switch {
		case !message.Exists():
			p.Report(p.Here(), "there is no message", "expected a message to send")
		case message.Kind() != a2a.Object:
			p.Report(p.Here(name), "the message is "+analysis.Quote(message), "expected an object")
		}
	},
}

// lacksParams reports whether the request at hand has no parameters at all: over HTTP+JSON no body, over JSON-RPC no
// params, or the null that stands for that in 0.1.
func lacksParams(p *analysis.Pass) bool {
	call := &p.Exchange.Call
	switch {
	case call.Batch != nil:
		return false
	case call.Binding == a2a.HTTPJSON: // HARs of other programs may leave a body out
		length := p.Exchange.Request.Fields.Get("Content-Length")
		return p.Doc == nil && (length == "0" || length == "" && p.Exchange.HeadersKept())
	}
	return !call.Params.Exists() || call.Params.IsNull() && p.Dialects == a2a.Of(a2a.V0_1)
}

var msgIDPresent = &analysis.Rule{
	ID:     "msg-id-present",
	Title:  "message without a messageId",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	Cites:  rule.Cite("6.4", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0),
	Stands: "0.2.6:types:368 0.3.0:types:714 1.0.1:proto:262",
	Doc: `The sender of a message gives it an id. By it a message that was sent twice is taken for one, and histories
are put together; typed clients and agents refuse a message without.`,
	Fix: `Write a fresh "messageId" into every message, such as a UUID, and the same one when the message is sent
again.`,
	Silent: `What the id looks like. In a history, messages of the client that were judged when they were sent.`,
	Check: func(p *analysis.Pass) {
		requireText(p, "messageId", analysis.Error)
	},
}

// requireText reports a member of the entity at hand that is missing, null, no string, or empty.
func requireText(p *analysis.Pass, name string, worst analysis.Severity) {
	p.Applied()
	switch v := p.Entity.Member(name); {
	case !v.Exists():
		p.Report(p.Here(), name+" is missing", "expected a non-empty string", analysis.AtMost(worst))
	case v.Kind() != a2a.String:
		p.Report(p.Here(name), name+" is "+analysis.Quote(v), "expected a non-empty string")
	case v.Is(""):
		p.Report(p.Here(name), name+" is "+analysis.Quote(v), "expected a non-empty string", analysis.AtMost(worst))
	}
}

var msgRoleEnum = &analysis.Rule{
	ID:     "msg-role-enum",
	Title:  "role missing or unknown",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	Cites:  rule.Cite("6.4", rule.Before1...).And("4.1.5", a2a.V1_0),
	Covers: []string{"version-semantics-mixed"},
	Stands: "0.1.0:502 0.2.6:types:357 0.3.0:types:700 1.0.1:proto:245",
	Doc: `The role says who speaks: the client's side or the agent. A receiver that cannot read it drops the message or
puts it into the wrong mouth, which a language model then goes on from.`,
	Fix: `Write "user" or "agent" before 1.0, and "ROLE_USER" or "ROLE_AGENT" in 1.0.`,
	Silent: `Before 1.0, over HTTP+JSON, the spelling of 1.0. In 1.0 the spelling of other versions is left to
enum-name-string. In a history, messages of the client that were judged when they were sent.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		role := p.Entity.Member("role")
		switch modern := p.Entity.Modern(); {
		case !role.Exists():
			p.Report(p.Here(), "role is missing", "expected "+roleNames(p))
		case isRole(p, role, a2a.UserRole), isRole(p, role, a2a.AgentRole):
		case modern && !unknownWord(p, role) && (role.Kind() == a2a.Number || a2a.RoleOf(role.Text()) != a2a.NoRole):
			// a role, and only written in another way
		default:
			p.Report(p.Here("role"), "role is "+analysis.Quote(role)+whoseSpelling(p, role), "expected "+roleNames(p))
		}
	},
}

func roleNames(p *analysis.Pass) string {
	if p.Entity.Modern() || p.Exchange.Call.Binding == a2a.GRPC {
		return `"ROLE_USER" or "ROLE_AGENT"`
	}
	return `"user" or "agent"`
}

// isRole reports whether a value is the role as the dialect at hand spells it.
func isRole(p *analysis.Pass, v a2a.Value, role a2a.Role) bool {
	old, modern := v.Is("user"), v.Is("ROLE_USER")
	if role == a2a.AgentRole {
		old, modern = v.Is("agent"), v.Is("ROLE_AGENT")
	}
	switch {
	case p.Entity.Modern():
		return modern
	case p.Entity.Proto():
		return old || modern
	}
	return old
}

var msgRoleClient = &analysis.Rule{
	ID:       "msg-role-client",
	Title:    "client sends a message in the role of the agent",
	Level:    analysis.Must,
	Side:     a2a.Client,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("6.4", rule.Before1...).And("4.1.5", a2a.V1_0),
	Stands:   "0.1.0:502 0.2.6:types:357 0.3.0:types:699 1.0.1:proto:248",
	Doc: `What goes from client to agent is said by the user, whoever or whatever that is. An agent that builds its
conversation from roles takes such a message for its own words, and does not answer it.`,
	Fix: `Send messages with the role of the user. An agent that asks another agent is that agent's client, and so the
user there.`,
	Silent: `Roles that are missing or unknown. Before 1.0 the finding is a warning: there the role of the user is only
what is usual.`,
	Check: func(p *analysis.Pass) {
		role := p.Entity.Member("role")
		if p.Entity.In != a2a.InRequest || role.Kind() != a2a.String {
			return
		}
		p.Applied()
		if isRole(p, role, a2a.AgentRole) {
			p.Report(p.Here("role"), "the client's message has the role "+analysis.Quote(role), "expected that of the user",
				analysis.AtMostIf(!p.Entity.Modern(), analysis.Warning))
		}
	},
}

var msgRoleServer = &analysis.Rule{
	ID:     "msg-role-server",
	Title:  "agent answers in the role of the user",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	If:     analysis.Told,
	Cites:  rule.Cite("6.4", rule.Before1...).And("4.1.5", a2a.V1_0),
	Stands: "0.1.0:502 0.2.6:types:357 0.3.0:types:699 1.0.1:proto:250",
	Doc: `A message that answers, and the one that goes with a status, are the agent's own. With the role of the user a
client shows them as if the user had said them, and may send them back.`,
	Fix:    `Set the role of the agent in every message that the agent makes. Do not copy the message that came in.`,
	Silent: `Messages of a history, where both sides speak. Roles that are missing or unknown.`,
	Check: func(p *analysis.Pass) {
		role := p.Entity.Member("role")
		if p.Entity.In != a2a.InResult && p.Entity.In != a2a.InStatus || role.Kind() != a2a.String {
			return
		}
		p.Applied()
		if isRole(p, role, a2a.UserRole) {
			p.Report(p.Here("role"), "the agent's message has the role "+analysis.Quote(role), "expected that of the agent")
		}
	},
}

var msgPartsArray = &analysis.Rule{
	ID:     "msg-parts-array",
	Title:  "parts of a message missing or not a list",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	Cites:  rule.Cite("6.4", rule.Before1...).And("4.1.4", a2a.V1_0),
	Covers: []string{"unknown-field"},
	Stands: "0.1.0:492 0.2.6:types:359 0.3.0:types:705 1.0.1:proto:270",
	Doc: `What a message says is in its parts, a list even if there is only one. Without it there is nothing to read, and a
typed receiver refuses the whole message.`,
	Fix: `Write "parts" as a list of objects. A plain text is a list of one text part.`,
	Silent: `Before 1.0, over HTTP+JSON, the name "content"; a list that is left out there is an empty one, and a note. In
a history, messages of the client that were judged when they were sent.`,
	Check: requirePartsList,
}

// requirePartsList reports a message or artifact whose parts are no list.
func requirePartsList(p *analysis.Pass) {
	p.Applied()
	parts, name := partsOf(p)
	switch {
	case parts.Exists() && parts.Kind() != a2a.Array:
		p.Report(p.Here(name), name+" is "+analysis.Quote(parts), "expected a list of parts")
	case !parts.Exists():
		p.Report(p.Here(), "parts is missing", "expected a list of parts",
			analysis.AtMostIf(p.Entity.Proto() || isLastChunk(p), analysis.Note)) // the proto JSON of an empty list
	}
}

// partsOf returns the parts of the message or artifact at hand, and under which name they stand.
func partsOf(p *analysis.Pass) (a2a.Value, string) {
	if parts := p.Entity.Member("parts"); parts.Exists() || !p.Entity.Proto() {
		return parts, "parts"
	}
	return p.Entity.Member("content"), "content"
}

var msgPartsNonempty = &analysis.Rule{
	ID:     "msg-parts-nonempty",
	Title:  "message without any part",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("6.4", rule.Before1...).And("5.7", a2a.V1_0),
	Stands: "0.1.0:490 0.2.5:382 0.3.0:types:705 1.0.1:1263",
	Doc: `A message has at least one part. With none it says nothing: clients show an empty bubble or refuse it, and agents
have nothing to work on.`,
	Fix: `Leave the message out where there is nothing to say; a status may come without one.`,
	Silent: `In 0.2 it is an error only if the card names a version up to 0.2.5, and else a note. It is also a note in 0.3,
whose text does not ask for a part, and before 1.0 over HTTP+JSON. In a history, messages of the client that were judged
when they were sent.`,
	Check: func(p *analysis.Pass) { requireParts(p, analysis.Error) },
}

// requireParts reports an empty list of parts of a message or artifact.
func requireParts(p *analysis.Pass, worst analysis.Severity) {
	parts, name := partsOf(p)
	if parts.Kind() != a2a.Array {
		return
	}
	p.Applied()
	if p.Entity.Proto() || p.Dialects.Has(a2a.V0_3) || p.Dialects.Has(a2a.V0_2) && !rule.Before0_2_6(p) {
		worst = analysis.Note
	}
	if !parts.Elem(0).Exists() {
		p.Report(p.Here(name), name+" is []", "expected at least one part", analysis.AtMost(worst))
	}
}

var msgKind = &analysis.Rule{
	ID:       "msg-kind",
	Title:    `message without kind "message"`,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	Either:   true,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.4", a2a.V0_2, a2a.V0_3),
	Covers:   []string{"version-semantics-mixed", "field-type"},
	Stands:   "0.2.6:types:375 0.3.0:types:721",
	Doc: `An agent answers a message with a Task or a Message, and "kind" is how a client tells which. A typed client that
does not find it reads nothing at all.`,
	Fix: `Write "kind":"message" into every message.`,
	Silent: `In events of a stream, event-kind reports it. Anywhere but in a direct answer a missing kind is a note, since
examples of the specification leave it out, and in a history nothing. A message whose role is spelt as in 1.0 is
reported for that instead.`,
	Check: func(p *analysis.Pass) {
		kind, direct := p.Entity.Member("kind"), p.Entity.In == a2a.InResult
		if direct && p.Event != nil {
			return
		}
		p.Applied()
		switch {
		case kind.Is("message"), otherSpelling(p):
		case kind.Exists():
			p.Report(p.Here("kind"), "kind is "+analysis.Quote(kind), `expected "message"`)
		case direct:
			p.Report(p.Here(), "kind is missing", `expected "message"`, analysis.For(analysis.KindOmitted))
		case p.Entity.In != a2a.InHistory:
			p.Report(p.Here(), "kind is missing", `expected "message"`, analysis.AtMost(analysis.Note),
				analysis.For(analysis.KindOmitted))
		}
	},
}

var msgContextOnServerMessage = &analysis.Rule{
	ID:       "msg-context-on-server-message",
	Title:    "answering message without a contextId",
	Level:    analysis.Should,
	Side:     a2a.Agent,
	Once:     analysis.PerEndpoint,
	If:       analysis.Told,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("4.1.4", a2a.V1_0),
	Stands:   "1.0.1:proto:255",
	Doc: `A message that is the whole answer tells in which context it was given. Without the contextId the client cannot
go on with the conversation: its next message begins another one.`,
	Fix: `Write the context's id into the message: the one that the client sent, or a new one.`,
	Silent: `Messages of a status or a history, which are in the context of their task; a contextId that is not a
string, which another rule reports. It is said once for each URL.`,
	Check: func(p *analysis.Pass) {
		v := p.Entity.Member("contextId")
		if p.Entity.In == a2a.InResult && p.Exchange.Call.Operation.Sends() && (!v.Exists() || v.Kind() == a2a.String) {
			requireText(p, "contextId", analysis.Warning)
		}
	},
}
