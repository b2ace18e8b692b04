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

// Calls is the family of rules about what a client calls over gRPC.
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
	Doc: `The service was renamed for 1.0: before, it is a2a.v1.A2AService, since then lf.a2a.v1.A2AService, and hardly a
message is the same in both. An agent answers the other name with UNIMPLEMENTED.`,
	Fix: `Call the service of the version that the card declares for the interface: lf.a2a.v1.A2AService for 1.0,
a2a.v1.A2AService for 0.2 and 0.3. If the agent serves the other version, correct protocolVersion in its card.`,
	Silent: `Interfaces that no card declares for gRPC, or declares for both; services of other names. The first call of
each client at an endpoint is reported.`,
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
				"expected "+service+", that of "+declared.String()+", which the card declares here")
		}
	},
}

// ofCandidate are methods that the release candidate of 1.0 had, whose service has the name of that of 0.3.
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
	Doc: `The methods of the service are few, and some have another name in 1.0: TaskSubscription became SubscribeToTask,
GetAgentCard became GetExtendedAgentCard. An agent answers a method that it does not have with UNIMPLEMENTED.`,
	Fix: `Make client and agent of the same a2a.proto, that of the version which the card declares.`,
	Silent: `Methods that the release candidate of 1.0 had, in the service whose name it shares with 0.3. The first call
of each client at an endpoint is reported.`,
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
	Doc: `The version goes along with every call as metadata. Without it the call asks for 0.3, although its service is
that of 1.0: an agent may refuse it, and the next version of the protocol will read it otherwise.`,
	Fix: `Send the metadata a2a-version: 1.0 with every call, in an interceptor of the client.`,
	Silent: `An empty version, which means 0.3 in so many words; methods that the service does not have. The first call of
each client at an endpoint is reported.`,
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
	Title: "grpc-timeout that is none",
	Level: analysis.Must,
	Side:  a2a.Client,
	Once:  analysis.PerEndpoint,
	On:    analysis.RequestSeen,
	Cites: rule.Cite("gRPC over HTTP/2 §Requests", a2a.V0_2, a2a.V0_3, a2a.V1_0),
	Doc: `The client says in grpc-timeout how long it waits, so that the agent stops when nobody listens any more. What
cannot be read is refused by some servers with INTERNAL, before the agent has seen the call, and by others passed over: then
the agent works on for nobody.`,
	Fix: `Set the deadline in the client library, and do not write the field: it is a number of at most eight digits and
its unit, one of H, M, S, m, u and n, as in 30S.`,
	Silent: `Calls without the field, which may take any time. The first call of each client at an endpoint is reported.`,
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
	Title:  "message of gRPC that cannot be read",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	Once:   analysis.PerExchange,
	On:     analysis.RequestSeen | analysis.AnswerSeen | analysis.EventSeen | analysis.StreamEnded,
	Cites:  rule.Cite("6", a2a.V0_2).And("3.2.2", a2a.V0_3).And("10.1", a2a.V1_0),
	Stands: "0.2.6:proto:2 0.3.0:87 1.0.1:2513",
	Doc: `What gRPC carries is the message of the method in protocol buffers, behind a flag and its length. Receivers refuse
bytes that are no such message, that end too early, or that hold a text which is not UTF-8, before any code of the agent or
client sees them. They also refuse a flag other than 0 and 1, and the flag of a compressed message where grpc-encoding names
no compression (gRPC over HTTP/2 §Length-Prefixed-Message). A recorder does not keep a message that it cannot search for
secrets, and notes why the message cannot be read.`,
	Fix: `Let generated code write messages. Texts from elsewhere must be UTF-8 before they become fields.`,
	Silent: `Messages in a compression that is not known here, longer ones than are read, and those of methods that the
service does not have. They count as not seen. Messages that are cut off where the answer broke off or its status is not OK.`,
	Check: func(p *analysis.Pass) {
		m := messageOf(p)
		if m == nil {
			return
		}
		p.Applied()
		if m.Err == nil || m.Limit() || errors.Is(m.Err, grpc.ErrNoMessage) { // of which grpc-message-count speaks
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

// messageOf returns the message at hand; nil if there is none, or nobody knows what it should be.
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
	Title:  "field that a message of gRPC does not have",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	Needs:  []*analysis.Tracker{card.Tracker},
	Either: true,
	Once:   analysis.PerExchange,
	On:     analysis.RequestSeen | analysis.AnswerSeen | analysis.EventSeen,
	Cites:  rule.Cite("6", a2a.V0_2).And("3.2.2", a2a.V0_3).And("10.1", a2a.V1_0),
	Stands: "0.2.6:proto:3 0.3.0:86 1.0.1:2512",
	Doc: `The message has a field whose number its type does not have, or has for something that is written otherwise, or
a Timestamp that names no instant. Receivers go on without it, so that what stands there is lost. Mostly the message was
made of another version's a2a.proto: the numbers of 1.0 are not those of 0.3.`,
	Fix: `Make client and agent of the same a2a.proto. What is your own belongs into metadata, not into fields.`,
	Silent: `It is a note. Of several in an exchange from one side the first is reported; none where the service of 0.3 is
called and no card is known to give a version before 1.0, since the drafts of 1.0 have the same service, and fields of
their own.`,
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
			expected = "expected it as the type of the message lays it down"
		}
		p.Report(p.Place.At(u.Pointer), seen, expected, rule.BySender(p))
	},
}
