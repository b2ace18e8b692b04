package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Messages is the family of rules about the shape of messages from either side.
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
	Doc: `A send request needs a message. Without one, or with a text where the object belongs, the agent has nothing
to work on, and usually answers that the parameters are invalid.`,
	Fix: `Put the message into the member "message" of the parameters, as an object with a role and parts.`,
	Silent: `Over HTTP+JSON the member "request" of 0.x counts as the message. Parameters that are not an object, and
a body that is not JSON, are reported by other rules.`,
	Check: func(p *analysis.Pass) {
		switch {
		case !p.Exchange.Call.Operation.Sends():
			return
		case p.Kind == analysis.RequestSeen:
			if lacksParams(p) {
				p.Report(p.Exchange.RequestPlace().Body(), "the parameters are missing", "expected a message to send")
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
			p.Report(p.Here(), "the message is missing", "expected a message to send")
		case message.Kind() != a2a.Object:
			p.Report(p.Here(name), "the message is "+analysis.Quote(message), "expected an object")
		}
	},
}

// lacksParams reports whether the current request has no parameters at all: no body over HTTP+JSON, no params over
// JSON-RPC, or null, which 0.1 uses for absent params.
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
	Doc: `The sender of a message gives it an id. Receivers use the id to detect a message that was sent twice and to
merge histories. Typed clients and agents refuse a message without one.`,
	Fix:    `Write a fresh "messageId" into every message, such as a UUID. Use the same id if you send the message again.`,
	Silent: `The format of the id. In a history, messages of the client, which were checked when they were sent.`,
	Check: func(p *analysis.Pass) {
		requireText(p, "messageId", analysis.Error)
	},
}

// requireText reports a member of the current entity that is missing, null, no string, or empty.
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
	Doc: `The role says who wrote the message: the client's side or the agent. A receiver that cannot read the role
drops the message or attributes it to the wrong side, and a language model then continues from that.`,
	Fix: `Write "user" or "agent" before 1.0, and "ROLE_USER" or "ROLE_AGENT" in 1.0.`,
	Silent: `Before 1.0, over HTTP+JSON, the spelling of 1.0. In 1.0 the spelling of other versions is reported by
enum-name-string. In a history, messages of the client, which were checked when they were sent.`,
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

// isRole reports whether a value is the role as the current dialect spells it.
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
	Title:    "client sends a message with the role of the agent",
	Level:    analysis.Must,
	Side:     a2a.Client,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("6.4", rule.Before1...).And("4.1.5", a2a.V1_0),
	Stands:   "0.1.0:502 0.2.6:types:357 0.3.0:types:699 1.0.1:proto:248",
	Doc: `Messages from client to agent have the role of the user. An agent that builds its conversation from roles
takes this message for its own, and does not answer it.`,
	Fix: `Send messages with the role of the user. An agent that calls another agent is a client there, and so the
user.`,
	Silent: `Roles that are missing or unknown. Before 1.0 the finding is a warning: the role of the user is only
customary there.`,
	Check: func(p *analysis.Pass) {
		role := p.Entity.Member("role")
		if p.Entity.In != a2a.InRequest || role.Kind() != a2a.String {
			return
		}
		p.Applied()
		if isRole(p, role, a2a.AgentRole) {
			p.Report(p.Here("role"), "the client's message has the role "+analysis.Quote(role), "expected the role of the user",
				analysis.AtMostIf(!p.Entity.Modern(), analysis.Warning))
		}
	},
}

var msgRoleServer = &analysis.Rule{
	ID:     "msg-role-server",
	Title:  "agent answers with the role of the user",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	If:     analysis.Told,
	Cites:  rule.Cite("6.4", rule.Before1...).And("4.1.5", a2a.V1_0),
	Stands: "0.1.0:502 0.2.6:types:357 0.3.0:types:699 1.0.1:proto:250",
	Doc: `The message in an answer and the message in a status are from the agent. If they have the role of the user,
a client shows them as if the user had written them, and may send them back.`,
	Fix:    `Set the role of the agent in every message that the agent creates. Do not copy the request's message.`,
	Silent: `Messages of a history, which contains both sides. Roles that are missing or unknown.`,
	Check: func(p *analysis.Pass) {
		role := p.Entity.Member("role")
		if p.Entity.In != a2a.InResult && p.Entity.In != a2a.InStatus || role.Kind() != a2a.String {
			return
		}
		p.Applied()
		if isRole(p, role, a2a.UserRole) {
			p.Report(p.Here("role"), "the agent's message has the role "+analysis.Quote(role), "expected the role of the agent")
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
	Doc: `The content of a message is in its parts, a list even if there is only one. Without the list there is
nothing to read, and a typed receiver refuses the whole message.`,
	Fix: `Write "parts" as a list of objects. A plain text is a list with one text part.`,
	Silent: `Before 1.0, over HTTP+JSON, the name "content". A list that is left out there means an empty one, and the
finding is a note. In a history, messages of the client, which were checked when they were sent.`,
	Check: requirePartsList,
}

// requirePartsList reports a message or artifact whose parts are not a list.
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

// partsOf returns the parts of the current message or artifact, and the name of the member that has them.
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
	Doc: `A message has at least one part. Without any it is empty: clients show an empty bubble or refuse it, and
agents have nothing to work on.`,
	Fix: `Leave the message out if it has no content; a status does not need one.`,
	Silent: `In 0.2 the finding is an error only if the card names a version up to 0.2.5, and a note otherwise. It is
also a note in 0.3, whose text does not require a part, and before 1.0 over HTTP+JSON. In a history, messages of the
client, which were checked when they were sent.`,
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
	Doc: `An agent answers a message with a Task or a Message, and "kind" tells the client which one it is. A typed
client that does not find it cannot read the answer.`,
	Fix: `Write "kind":"message" into every message.`,
	Silent: `In events of a stream, event-kind reports it. A missing kind is a note outside a direct answer, since
examples of the specification leave it out, and is not reported in a history. A message whose role is spelled as in
1.0 is reported for that instead.`,
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
	Title:    "answer is a message without a contextId",
	Level:    analysis.Should,
	Side:     a2a.Agent,
	Once:     analysis.PerEndpoint,
	If:       analysis.Told,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("4.1.4", a2a.V1_0),
	Stands:   "1.0.1:proto:255",
	Doc: `A message that is the complete answer names its context. Without the contextId the client cannot continue
the conversation: its next message starts another one.`,
	Fix: `Write the context's id into the message: the one from the client, or a new one.`,
	Silent: `Messages of a status or a history, which are in the context of their task; a contextId that is not a
string, which another rule reports. It is reported once per URL.`,
	Check: func(p *analysis.Pass) {
		v := p.Entity.Member("contextId")
		if p.Entity.In == a2a.InResult && p.Exchange.Call.Operation.Sends() && (!v.Exists() || v.Kind() == a2a.String) {
			requireText(p, "contextId", analysis.Warning)
		}
	},
}
