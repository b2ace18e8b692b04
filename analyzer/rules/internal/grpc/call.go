package grpc

import (
	"errors"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// Calls is the family of rules about the services and methods that a client calls over gRPC.
var Calls = rule.Family{
	Name:     "grpc",
	Category: analysis.Interop,
	Bindings: rule.OnGRPC,
}.Of(
	grpcServicePath,
	grpcMethodKnown,
	grpcMetadataVersion,
	grpcTimeout,
	grpcMessage,
	grpcMessageCount,
	grpcEncoding,
	grpcContentType,
	grpcField,
)

var grpcServicePath = &analysis.Rule{
	ID:     "grpc-service-path",
	Title:  "gRPC service of another version than the interface",
	Level:  analysis.Must,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("6", a2a.V0_2).And("3.2.2", a2a.V0_3).And("10.1", a2a.V1_0),
	Stands: "0.2.6:proto:3 0.3.0:88 1.0.1:2514",
	Doc: `The service was renamed from a2a.v1.A2AService to lf.a2a.v1.A2AService for 1.0, and almost no message is the
same in both. An agent answers the other name with UNIMPLEMENTED.`,
	Fix: `Call the service of the version that the card declares for the interface: lf.a2a.v1.A2AService for 1.0,
a2a.v1.A2AService for 0.2 and 0.3. If the agent serves the other version, correct protocolVersion in its card.`,
	Silent: `Interfaces that no card declares for gRPC, or that a card declares for both; services with other names.
Only the first call of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		declared := x.Endpoint.Declared
		if declared.Empty() {
			return
		}
		p.Applied()
		if declared.Intersect(x.Call.Dialects).Empty() {
			service := grpc.Service0_3
			if declared.Has(a2a.V1_0) {
				service = grpc.Service1_0
			}
			p.Report(x.RequestPlace().Line(), "the service is "+x.Call.RPC.Service,
				"expected "+service+", the service of "+declared.String()+", which the card declares here")
		}
	},
}

// ofCandidate are methods of the 1.0 release candidate, whose service has the name of the 0.3 service.
var ofCandidate = []string{
	"ListTasks", "SubscribeToTask", "GetExtendedAgentCard", "SetTaskPushNotificationConfig", "ListTask",
	"ListTaskPushNotificationConfigs",
}

var grpcMethodKnown = &analysis.Rule{
	ID:     "grpc-method-known",
	Title:  "gRPC method that the service does not have",
	Level:  analysis.Must,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("6", a2a.V0_2).And("3.5.6", a2a.V0_3).And("5.3", a2a.V1_0),
	Stands: "0.2.6:proto:31 0.3.0:213 1.0.1:1162",
	Doc: `The service has few methods, and some have another name in 1.0: TaskSubscription became SubscribeToTask,
GetAgentCard became GetExtendedAgentCard. An agent answers an unknown method with UNIMPLEMENTED.`,
	Fix: `Generate client and agent from the same a2a.proto, in the version that the card declares.`,
	Silent: `Methods of the 1.0 release candidate in the service whose name it shares with 0.3. Only the first call of
each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		m := &p.Exchange.Call.RPC
		p.Applied()
		if m.Known() || m.Service == grpc.Service0_3 && slices.Contains(ofCandidate, m.Name) {
			return
		}
		expected := "expected one of its methods"
		if other, _ := grpc.MethodOf("/" + otherService(m.Service) + "/" + m.Name); other.Known() {
			expected += ": " + m.Name + " is one of " + other.Service
		}
		p.Report(p.Exchange.RequestPlace().Line(), m.Service+" has no method "+analysis.QuoteText(m.Name), expected)
	},
}

func otherService(service string) string {
	if service == grpc.Service1_0 {
		return grpc.Service0_3
	}
	return grpc.Service1_0
}

var grpcMetadataVersion = &analysis.Rule{
	ID:     "grpc-metadata-version",
	Title:  "gRPC call without the a2a-version metadata",
	Level:  analysis.Must,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.OutcomeSeen,
	Cites:  rule.Cite("3.6.1", a2a.V1_0).And("10.2", a2a.V1_0),
	Stands: "1.0.1:712 1.0.1:2518",
	Doc: `Every call carries the version as metadata. Without it the call asks for 0.3, although its service belongs
to 1.0: an agent may refuse it, and the next version of the protocol will interpret it differently.`,
	Fix: `Send the metadata a2a-version: 1.0 with every call, for example from a client interceptor.`,
	Silent: `An empty version, which explicitly means 0.3; methods that the service does not have. Only the first call
of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation == a2a.NoOperation || !x.HeadersKept() {
			return
		}
		p.Applied()
		if !x.Request.Fields.Has("A2A-Version") {
			p.Report(x.RequestPlace(), "a call of 1.0 ("+rule.MethodOrPath(x)+") names no version",
				`expected "a2a-version: 1.0"`)
		}
	},
}

var grpcTimeout = &analysis.Rule{
	ID:    "grpc-timeout",
	Title: "invalid grpc-timeout",
	Level: analysis.Must,
	Side:  a2a.Client,
	Once:  analysis.PerEndpoint,
	On:    analysis.RequestSeen,
	Cites: rule.Cite("gRPC over HTTP/2 §Requests", a2a.V0_2, a2a.V0_3, a2a.V1_0),
	Doc: `grpc-timeout says how long the client waits, so the agent can stop when the client has given up. Some
servers refuse an invalid value with INTERNAL before the agent sees the call. Others ignore it, and the agent
continues to work for a client that has left.`,
	Fix: `Set the deadline with the client library, and do not write the field yourself. It is a number of at most
eight digits and a unit, one of H, M, S, m, u and n, as in 30S.`,
	Silent: `Calls without the field, which have no deadline. Only the first call of each client at an endpoint is
reported.`,
	Check: func(p *analysis.Pass) {
		fields := p.Exchange.Request.Fields
		if !fields.Has(grpc.TimeoutField) {
			return
		}
		p.Applied()
		text := fields.Get(grpc.TimeoutField)
		if _, ok := grpc.ParseTimeout(text); !ok {
			p.Report(p.Exchange.RequestPlace().Header(grpc.TimeoutField), "grpc-timeout is "+analysis.QuoteText(text),
				"expected at most eight digits and one of H, M, S, m, u and n")
		}
	},
}

var grpcMessage = &analysis.Rule{
	ID:     "grpc-message",
	Title:  "gRPC message that cannot be read",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	Once:   analysis.PerExchange,
	On:     analysis.RequestSeen | analysis.AnswerSeen | analysis.EventSeen | analysis.StreamEnded,
	Cites:  rule.Cite("6", a2a.V0_2).And("3.2.2", a2a.V0_3).And("10.1", a2a.V1_0),
	Stands: "0.2.6:proto:2 0.3.0:87 1.0.1:2513",
	Doc: `gRPC carries the method's message in protocol buffers, after a flag and its length. Receivers refuse bytes
that are not such a message, that end too early, or that hold text which is not UTF-8, before any code of the agent or
client sees them. They also refuse a flag other than 0 and 1, and the flag of a compressed message if grpc-encoding
names no compression (gRPC over HTTP/2 §Length-Prefixed-Message). The recorder does not keep a message that it cannot
search for secrets, and notes why it cannot read the message.`,
	Fix: `Let generated code write messages. Convert text from other sources to UTF-8 before you put it into fields.`,
	Silent: `Messages in an unknown compression, messages that are too long, and messages of unknown methods, which
count as not seen. Messages that are cut off if the answer broke off or its status is not OK.`,
	Check: func(p *analysis.Pass) {
		m := messageOf(p)
		if m == nil {
			return
		}
		p.Applied()
		if m.Err == nil || m.Limit() || errors.Is(m.Err, grpc.ErrNoMessage) { // which grpc-message-count reports
			return
		}
		at, why := p.Place, m.Err.Error()
		if p.Kind == analysis.StreamEnded {
			at = p.Exchange.ResponsePlace().Event(p.Exchange.Stream.Rest.K)
		}
		if fault, ok := errors.AsType[*grpc.Error](m.Err); ok {
			at, why = at.At(fault.Pointer), fault.Reason
		}
		p.Report(at, "the message cannot be read: "+why, "expected "+typeOf(p), rule.BySender(p))
	},
}

// messageOf returns the current message, or nil without a message or with an unknown type.
func messageOf(p *analysis.Pass) *grpc.Reading {
	switch {
	case !p.Exchange.Call.RPC.Known():
		return nil
	case p.Kind == analysis.RequestSeen:
		return p.Exchange.Message
	case p.Kind == analysis.EventSeen:
		return p.Event.Message
	case p.Kind == analysis.StreamEnded:
		return restOf(p)
	case p.Answer == nil || p.Answer.Err != nil:
		return nil
	}
	return p.Exchange.Answer
}

// restOf returns the message that a stream with status OK ended inside; nil if it ended between messages.
func restOf(p *analysis.Pass) *grpc.Reading {
	x := p.Exchange
	status, told := x.GRPCStatus()
	if x.Stream.Rest == nil || x.Cut || !p.End.Clean || !told || status.Code != grpc.OK {
		return nil
	}
	return x.Stream.Rest.Message
}

var grpcField = &analysis.Rule{
	ID:     "grpc-field",
	Title:  "unknown field in a gRPC message",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	Needs:  []*analysis.Tracker{card.Tracker},
	Either: true,
	Once:   analysis.PerExchange,
	On:     analysis.RequestSeen | analysis.AnswerSeen | analysis.EventSeen,
	Cites:  rule.Cite("6", a2a.V0_2).And("3.2.2", a2a.V0_3).And("10.1", a2a.V1_0),
	Stands: "0.2.6:proto:3 0.3.0:86 1.0.1:2512",
	Doc: `The message has a field number that its type does not define, or defines with another encoding, or a
Timestamp that is not a valid time. Receivers ignore the field, and its content is lost. Usually the message was
generated from another version's a2a.proto: the numbers of 1.0 are not those of 0.3.`,
	Fix: `Generate client and agent from the same a2a.proto. Put custom data into metadata, not into fields.`,
	Silent: `The service of 0.3 if no card is known to give a version before 1.0, since the drafts of 1.0 have the
same service and their own fields. Only the first from each side of an exchange is reported. The finding is a note.`,
	Check: func(p *analysis.Pass) {
		m := messageOf(p)
		if m == nil || m.Err != nil || p.Exchange.Call.RPC.Service == grpc.Service0_3 && !rule.BeforeDrafts(p) {
			return
		}
		p.Applied()
		if len(m.Unknown) == 0 {
			return
		}
		u := &m.Unknown[0]
		seen := "a field " + number(u.Number) + " (" + u.Wire + ")"
		expected := "expected fields of " + strings.TrimPrefix(typeOf(p), "a ")
		if u.Name != "" {
			if seen += ", which is " + u.Name; u.Reason != "" {
				seen += ", and " + u.Reason
			}
			expected = "expected it as defined by the message's type"
		}
		p.Report(p.Place.At(u.Pointer), seen, expected, rule.BySender(p))
	},
}
