package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/stream"
	"a2atap/proxy/a2a"
)

// Results is the family of rules about which object an answer or an event holds.
var Results = rule.Family{
	Name:     "result",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnCall,
}.Of(
	sendResponseOneof,
	streamResponseOneof,
	sendResultType,
	getResultTask,
	resultObject,
)

var sendResponseOneof = &analysis.Rule{
	ID:     "send-response-oneof",
	Title:  "answer to a message is neither a task nor a message",
	Level:  analysis.Must,
	Cites:  rule.Cite("3.1.1", a2a.V1_0),
	Stands: "1.0.1:180",
	Doc: `An agent answers a message with a task or with a message, in the member of that name. With neither, a client
has no answer; with both, it does not know which one counts.`,
	Fix: `Answer {"task":{…}} or {"message":{…}}, never the bare object and never both.`,
	Silent: `Errors, answers that cannot be read, and answers in the form of another version. A member that is null
counts as missing; unknown members do not count.`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Call.Operation != a2a.SendMessage {
			return
		}
		if v, at, ok := resultOf(p); ok {
			p.Applied()
			if n := countMembers(v, "task", "message"); n != 1 {
				p.Report(p.Place.At(at), "the answer "+memberCountText(v, n, "neither task nor message", "both task and message"),
					"expected exactly one of them", analysis.ForIf(isBare(p, n), analysis.NoWrapper))
			}
		}
	},
}

// resultOf returns the result in a successful answer or event, and its pointer. It returns false without a result or
// without JSON.
func resultOf(p *analysis.Pass) (a2a.Value, string, bool) {
	a := p.Answer
	switch {
	case a == nil || a.Err != nil || a.Doc.Err != nil || p.Exchange.Call.Batch != nil:
		return a2a.Value{}, "", false
	case p.Exchange.Call.Binding == a2a.JSONRPC:
		return a.Result, "/result", a.IsEnvelope && a.Result.Exists() && !a.Result.IsNull() // which rpc-result-null reports
	case p.Kind == analysis.AnswerSeen && !rule.Succeeded(p.Exchange.Response.Status):
		return a2a.Value{}, "", false
	}
	return a.Doc.Root, "", a.Doc.Root.Exists() && !a.IsEnvelope
}

// isBare reports whether an answer or an event of 1.0 that holds n of the members that name its object is that object.
func isBare(p *analysis.Pass, n int) bool {
	payload := &p.Answer.Payload
	return n == 0 && !payload.Wrapped && p.Dialects == a2a.Of(a2a.V1_0) &&
		(payload.Kind == a2a.TaskPayload || payload.Kind == a2a.MessagePayload || payload.Kind == a2a.StatusPayload ||
			payload.Kind == a2a.ArtifactPayload)
}

// countMembers returns how many of the members exist and are not null, under their own name or that of the proto file.
func countMembers(v a2a.Value, names ...string) int {
	n := 0
	for _, name := range names {
		if m := v.Get(name); m.Exists() && !m.IsNull() {
			n++
		}
	}
	return n
}

// memberCountText describes the error in a result with n of the members of which it must have exactly one.
func memberCountText(v a2a.Value, n int, none, several string) string {
	switch {
	case v.Kind() != a2a.Object:
		return "is " + analysis.Quote(v)
	case n == 0:
		return "has " + none
	}
	return "has " + several
}

var streamResponseOneof = &analysis.Rule{
	ID:       "stream-response-oneof",
	Title:    "event holds no single object of a stream",
	Category: analysis.Streaming,
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	On:       analysis.EventSeen | analysis.ForeignSeen,
	Needs:    []*analysis.Tracker{stream.Tracker},
	Cites:    rule.Cite("3.2.3", a2a.V0_3).And("3.2.3", a2a.V1_0),
	Covers:   []string{"stream-first-event", "legacy-field-emitted"},
	Stands:   "0.3.0:102 1.0.1:proto:789",
	Doc: `Each event of a stream holds exactly one of task, message, statusUpdate and artifactUpdate. Clients use the
name of the member to identify the object. Without any of them there is nothing to read; with two, parsers refuse the
event.`,
	Fix: `Send one object per event, in the member with its name.`,
	Silent: `Errors that open a stream, and over JSON-RPC all errors. In 0.3 only HTTP+JSON is checked, where a flat
object with "kind" is fine too. Over HTTP+JSON an error object after other events is a note: the specification does
not define such late failures. Only the first such event is reported. If a stream begins with an event of another
version, that is reported instead.`,
	Check: func(p *analysis.Pass) {
		call, rest := &p.Exchange.Call, p.Exchange.Call.Binding != a2a.JSONRPC
		if p.Kind == analysis.ForeignSeen {
			if call.Streams && p.Dialects.Has(a2a.V1_0) && turnsForeign(p) {
				p.Report(p.Place.At(p.Answer.Payload.Pointer), "the event is in "+p.Answer.Payload.Dialects.String(),
					"expected task, message, statusUpdate or artifactUpdate")
			}
			return
		}
		if !call.Streams || p.Answer == nil || p.Dialects.Has(a2a.V0_3) && !rest {
			return
		}
		if p.Answer.Err != nil {
			if call.Binding == a2a.HTTPJSON && p.Exchange.Stream.Events > stream.Of(p).In(p.Exchange).Failed && !rule.OpensStream(p) {
				p.Report(p.Place.At(p.Answer.Err.Pointer), "the event is an error",
					"expected task, message, statusUpdate or artifactUpdate", analysis.AtMost(analysis.Note))
			}
			return
		}
		v, at, ok := resultOf(p)
		if !ok || p.Dialects.Has(a2a.V0_3) && (v.Has("kind") || v.Has("msg")) {
			return
		}
		p.Applied()
		n := countMembers(v, "task", "message", "statusUpdate", "artifactUpdate") +
			countMembers(v, "status_update", "artifact_update")
		if n != 1 {
			if v.Get("kind").Kind() == a2a.String && !rule.OpensStream(p) {
				at += "/kind" // names the wrapper; the contents are checked separately
			}
			p.Report(p.Place.At(at),
				"the event "+
					memberCountText(v, n, "none of task, message, statusUpdate and artifactUpdate",
						"several of task, message, statusUpdate and artifactUpdate"),
				"expected exactly one of them", analysis.ForIf(isBare(p, n), analysis.NoWrapper))
		}
	},
}

var sendResultType = &analysis.Rule{
	ID:       "send-result-type",
	Title:    "result of a send is not a bare Task or Message",
	Level:    analysis.Must,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnRPC,
	Once:     analysis.PerExchange,
	Cites:    rule.Cite("7.1", rule.Before1...).And("7.2", rule.Before1...),
	Covers:   []string{"unknown-field"},
	Stands:   "0.1.0:786 0.2.6:461 0.3.0:670 0.1.0:848 0.2.6:types:812 0.3.0:types:1032",
	Doc: `An agent answers a message with a Task or, since 0.2, with a Message. If a client gets anything else, it has
no answer although the call succeeded.`,
	Fix: `Answer with the Task itself as the result, or since 0.2 with a Message, not with a list, a text or a custom
object.`,
	Silent: `Errors, and results in the form and spelling of 1.0. A Task or Message without "kind" is recognized by
its members, and task-kind or msg-kind reports it. Only the first wrapped event in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		v, at, ok := resultOf(p)
		op := p.Exchange.Call.Operation
		if !ok || op != a2a.SendMessage && !(op.Streams() && p.Event != nil) {
			return
		}
		p.Applied()
		if payload := &p.Answer.Payload; payload.Wrapped {
			p.Report(p.Place.At(at), "the "+payload.Kind.String()+" is a member "+
				analysis.QuoteText(payload.Pointer[len(at)+1:])+" of another object, as in 1.0",
				"expected the bare "+payload.Kind.String(), analysis.For(analysis.Wrapper))
			return
		}
		if op != a2a.SendMessage {
			return
		}
		kind, expected := p.Answer.Payload.Kind, "expected a Task or a Message"
		if p.Dialects.Has(a2a.V0_1) {
			expected = "expected a Task"
		}
		if kind != a2a.TaskPayload && (kind != a2a.MessagePayload || p.Dialects == a2a.Of(a2a.V0_1)) {
			p.Report(p.Place.At(at), "the result is "+resultName(kind, v), expected)
		}
	},
}

// resultName describes an object by its kind, or shows a value that is not an object.
func resultName(kind a2a.PayloadKind, v a2a.Value) string {
	if v.Kind() != a2a.Object {
		return analysis.Quote(v)
	}
	if kind == a2a.UnknownPayload {
		return "an unknown object"
	}
	return "a " + kind.String()
}

var getResultTask = &analysis.Rule{
	ID:    "get-result-task",
	Title: "answer about a task is not the bare Task",
	Level: analysis.Must,
	If:    analysis.OfTask,
	Cites: rule.Cite("7.3", rule.Before1...).And("7.4", rule.Before1...).And("3.1.3", a2a.V1_0).
		And("3.1.5", a2a.V1_0),
	Covers: []string{"unknown-field"},
	Stands: "0.1.0:922 0.2.6:608 0.3.0:817 0.1.0:951 0.2.6:674 0.3.0:883 1.0.1:226 1.0.1:274",
	Doc: `A request to get or cancel a task is answered with the Task itself. A client that looks for id and status at
the top level does not find them if another object wraps the Task.`,
	Fix: `Write the Task as the result, or as the body, without {"task":…} around it: that form is for answers to
messages only.`,
	Silent: `Errors, null over JSON-RPC, and answers that cannot be read. What the Task holds is checked by other
rules.`,
	Check: func(p *analysis.Pass) {
		switch p.Exchange.Call.Operation {
		case a2a.GetTask, a2a.CancelTask:
		default:
			return
		}
		v, at, ok := resultOf(p)
		if !ok {
			return
		}
		p.Applied()
		switch payload := &p.Answer.Payload; {
		case payload.Kind == a2a.TaskPayload && payload.Wrapped:
			p.Report(p.Place.At(at),
				"the Task is a member "+analysis.QuoteText(payload.Pointer[len(at)+1:])+" of another object",
				"expected the bare Task", analysis.For(analysis.Wrapper))
		case payload.Kind != a2a.TaskPayload:
			p.Report(p.Place.At(at), "the answer is "+resultName(payload.Kind, v), "expected a Task")
		}
	},
}

var resultObject = &analysis.Rule{
	ID:     "result-object",
	Title:  "result is not a JSON object",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	Cites:  rule.Cite("7", rule.Before1...).And("3.1", a2a.V1_0),
	Stands: "0.1.0:779 0.2.6:449 0.3.0:658 1.0.1:167",
	Doc: `Every operation is answered with an object: a task, an update, a config, a card, or a page of a list. Typed
clients cannot read a text, a number or a list, and the call is lost although it succeeded.`,
	Fix: `Write the object of the operation as the result or the body, and an error as an error.`,
	Silent: `Errors, null over JSON-RPC, and answers that another rule covers: to sending, getting and canceling, and
the events of 1.0 and of HTTP+JSON. Before 1.0 lists of push configs may be arrays, and the format of task lists is
not defined.`,
	Check: func(p *analysis.Pass) {
		v, at, ok := resultOf(p)
		if !ok {
			return
		}
		call := &p.Exchange.Call
		rest, modern := call.Binding != a2a.JSONRPC, p.Dialects.Has(a2a.V1_0)
		switch call.Operation {
		case a2a.NoOperation, a2a.GetTask, a2a.CancelTask:
			return
		case a2a.SendMessage:
			if !rest || modern {
				return
			}
		case a2a.SendStreamingMessage, a2a.SubscribeToTask:
			if p.Event == nil || rest || modern {
				return
			}
		case a2a.ListTasks:
			if !modern {
				return
			}
		case a2a.DeletePushConfig:
			if !modern || v.IsNull() {
				return
			}
		case a2a.ListPushConfigs:
			if !rest || modern {
				return
			}
			p.Applied()
			for i, config := range v.Elems() {
				if config.Kind() != a2a.Object {
					p.Report(p.Place.At(a2a.Ptr(at, i)), "a config is "+analysis.Quote(config), "expected an object")
					return
				}
			}
			if v.Kind() == a2a.Array {
				return
			}
		}
		if p.Applied(); v.Kind() != a2a.Object {
			p.Report(p.Place.At(at), "the result is "+analysis.Quote(v), "expected an object")
		}
	},
}
