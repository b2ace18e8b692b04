package stream

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/stream"
	"a2atap/proxy/a2a"
)

// Streams is the family of rules about the contents of event streams.
var Streams = rule.Family{
	Name:     "stream",
	Category: analysis.Streaming,
	Side:     a2a.Agent,
	On:       analysis.EventSeen,
	Bindings: rule.OnCall,
}.Of(
	streamFirstEvent,
	streamSubscribeFirstTask,
	streamMessageOnly,
	streamNoMessageInTaskStream,
	streamNoMessageInTaskStream0x,
	streamTaskSnapshotPosition,
	streamRPCEnvelope,
	streamRPCID,
	streamRESTBare,
	streamErrorLast,
)

var streamFirstEvent = &analysis.Rule{
	ID:     "stream-first-event",
	Title:  "stream begins with neither Task nor Message",
	Level:  analysis.Must,
	Cites:  rule.Cite("3.1.2", a2a.V1_0),
	Stands: "1.0.1:210",
	Doc: `The stream that answers a message begins with the Task that the message started or continued, or is one
Message. Updates name a task only by its id: a client that never saw the task does not know what they are about.`,
	Fix: `Send the Task as the first event, before any update. If there is no task, send one Message and close the
stream.`,
	Silent: `An error as the first event, events that cannot be read, and subscriptions.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Exchange.Call.Operation != a2a.SendStreamingMessage || !rule.OpensStream(p) {
			return
		}
		p.Applied()
		switch kind := p.Answer.Payload.Kind; kind {
		case a2a.StatusPayload, a2a.ArtifactPayload:
			p.Report(p.Place.At(p.Answer.Payload.Pointer), "the first event is "+kind.String(), "expected a Task or a Message")
		}
	},
}

var streamSubscribeFirstTask = &analysis.Rule{
	ID:     "stream-subscribe-first-task",
	Title:  "subscription does not begin with the Task",
	Level:  analysis.Must,
	Cites:  rule.Cite("3.1.6", a2a.V1_0),
	Stands: "1.0.1:311",
	Doc: `The stream that answers a subscription begins with the current Task. Missed events are not sent again, so
this snapshot is all that a client learns about the past. Without it the client shows an outdated task.`,
	Fix:    `Send the Task in its current state as the first event of every subscription, before any update.`,
	Silent: `An error as the first event, and events that cannot be read.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Exchange.Call.Operation != a2a.SubscribeToTask || !rule.OpensStream(p) {
			return
		}
		switch kind := p.Answer.Payload.Kind; kind {
		case a2a.TaskPayload:
			p.Applied()
		case a2a.StatusPayload, a2a.ArtifactPayload, a2a.MessagePayload:
			p.Report(p.Place.At(p.Answer.Payload.Pointer), "the first event is "+kind.String(), "expected the current Task")
		}
	},
}

var streamMessageOnly = &analysis.Rule{
	ID:     "stream-message-only",
	Title:  "stream continues after its Message",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.EventSeen | analysis.StreamEnded,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("3.1.2", a2a.V1_0),
	Stands: "1.0.1:208",
	Doc: `A stream that begins with a Message consists of only that Message and closes. Clients treat the Message as
the answer and stop reading: later events are lost.`,
	Fix: `Close the stream after the Message. To send more, start a task and send the Task first.`,
	Silent: `Comments, events without data and events of other types, such as a ping. Only the first such event is
reported.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if p.Exchange.Call.Operation != a2a.SendStreamingMessage || s.Events == 0 || s.First != a2a.MessagePayload {
			return
		}
		if isOver(p) || p.Answer == nil || isStatus(p) {
			return
		}
		p.Report(p.Place.At(p.Answer.Payload.Pointer),
			fmt.Sprintf("%s follows the Message of event %d", p.Answer.Payload.Kind, s.Message),
			"expected no other event in the stream")
	},
}

var streamNoMessageInTaskStream = &analysis.Rule{
	ID:     "stream-no-message-in-task-stream",
	Title:  "Message in the stream of a task",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("3.1.2", a2a.V1_0),
	Stands: "1.0.1:210",
	Doc: `A stream that begins with a Task continues with updates of its status and artifacts. A Message is the
complete answer if there is no task: clients that find one in a task's stream drop it, or believe that the task has
been answered.`,
	Fix: `Put what the agent says into the message of a status update, and results into artifacts.`,
	Silent: `Streams that begin with anything but a Task, and events that cannot be read. Only the first such event is
reported.`,
	Check: func(p *analysis.Pass) {
		checkNoMessage(p, a2a.TaskPayload)
	},
}

// checkNoMessage reports a Message in a stream that began with one of the kinds.
func checkNoMessage(p *analysis.Pass, begun ...a2a.PayloadKind) {
	s := stream.Of(p).In(p.Exchange)
	if p.Answer == nil || s.Events == 0 || !slices.Contains(begun, s.First) {
		return
	}
	p.Applied()
	if p.Answer.Payload.Kind == a2a.MessagePayload {
		p.Report(p.Place.At(p.Answer.Payload.Pointer), fmt.Sprintf("a Message follows the %s of event %d", s.First, s.Begun),
			"expected only updates of the task")
	}
}

var streamNoMessageInTaskStream0x = &analysis.Rule{
	ID:     "stream-no-message-in-task-stream-0x",
	Title:  "Message in the stream of a task, before 1.0",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("7.2", a2a.V0_2, a2a.V0_3),
	Stands: "0.2.6:517 0.3.0:726",
	Doc: `A stream that has shown a task is expected to continue with updates of that task. A Message is the answer if
the agent creates no task. Many clients end the stream at a Message, or fail because they already follow a task. 1.0
forbids it.`,
	Fix: `Put what the agent says into the message of a status update, and results into artifacts.`,
	Silent: `A Message as the first event, and what follows it; messages inside a status or a history; events that
cannot be read. Only the first such event is reported.`,
	Check: func(p *analysis.Pass) {
		checkNoMessage(p, a2a.TaskPayload, a2a.StatusPayload, a2a.ArtifactPayload)
	},
}

var streamTaskSnapshotPosition = &analysis.Rule{
	ID:     "stream-task-snapshot-position",
	Title:  "Task in the middle of a stream",
	Level:  analysis.Should,
	Once:   analysis.PerExchange,
	On:     analysis.EventSeen | analysis.StreamEnded,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("11.7", a2a.V1_0),
	Stands: "1.0.1:2973",
	Doc: `In a stream the Task comes first, and may come again before the stream closes. In between only updates are
expected: clients may take a second Task for the last event, or rebuild the artifacts from it and then add to them
twice.`,
	Fix: `Send updates of the status and of artifacts. If you have to send the whole Task, send it last.`,
	Silent: `A Task at the end, and one that only an error follows; events after the end of the task are reported by
another rule. Only the first such event is reported.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if s.First == a2a.MessagePayload || s.Snapshot == 0 || s.Terminal > 0 && s.Terminal <= s.Snapshot || isOver(p) ||
			p.Answer == nil {
			return
		}
		switch kind := p.Answer.Payload.Kind; kind {
		case a2a.TaskPayload, a2a.MessagePayload, a2a.StatusPayload, a2a.ArtifactPayload:
			if s.Snapshot == s.Newest {
				p.Report(p.Exchange.ResponsePlace().Event(s.Snapshot),
					fmt.Sprintf("a Task is in the middle of the stream, and %s follows it", kind), "expected it first or last")
			}
		}
	},
}

var streamRPCEnvelope = &analysis.Rule{
	ID:       "stream-rpc-envelope",
	Title:    "event is not a JSON-RPC response",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("3.3", a2a.V0_1, a2a.V0_2).And("3.3.1", a2a.V0_3).And("9.4.2", a2a.V1_0),
	Covers:   []string{"rpc-response-jsonrpc", "rpc-result-xor-error", "rpc-result-xor-error-v01"},
	Stands:   "0.1.0:75 0.2.6:78 0.3.0:125 1.0.1:2325",
	Doc: `Over JSON-RPC the data of each event is one complete JSON-RPC response. Clients read its member result;
without the envelope they find nothing.`,
	Fix: `Send {"jsonrpc":"2.0","id":…,"result":…} as the data of every event, with the id of the request. The bare object
belongs to HTTP+JSON.`,
	Silent: `Data that is not JSON at all, blank data, and several values in one event, which other rules report; a
response that only lacks one of its members; events of another type without A2A content. Only the first such event is
reported.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Answer.Doc.Err != nil || p.Exchange.Call.Batch != nil {
			return
		}
		p.Applied()
		if p.Answer.IsEnvelope {
			return
		}
		what := p.Answer.Payload.Kind.String()
		if root := p.Answer.Doc.Root; root.Kind() != a2a.Object {
			what = root.Kind().String()
		}
		p.Report(p.Place.At(""), "the data is a bare "+what, "expected a JSON-RPC response")
	},
}

var streamRPCID = &analysis.Rule{
	ID:       "stream-rpc-id",
	Title:    "event's JSON-RPC id differs from the request's",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2.1", a2a.V0_1).And("6.11.2", a2a.V0_2, a2a.V0_3).And("JSON-RPC 2.0 §5", a2a.V1_0),
	Stands:   "0.1.0:843 0.2.6:432 0.3.0:641",
	Doc: `Each event of a JSON-RPC stream is a response to the one request, and has its id with the same JSON type. A
client that checks the id drops events with another one.`,
	Fix: `Copy the id of the request into every event: a number stays a number, and a string stays a string.`,
	Silent: `1 and 1.0 are the same number. An error with a code for unreadable requests may have a null id. An event
without id is not checked here. Only the first such event is reported.`,
	Check: func(p *analysis.Pass) {
		asked := p.Exchange.Call.ID
		if p.Answer == nil || !rule.IsID(asked) || !p.Answer.ID.Exists() {
			return
		}
		p.Applied()
		if failure := p.Answer.Err; p.Answer.ID.IsNull() && failure != nil &&
			(failure.Name == a2a.ParseError || failure.Name == a2a.InvalidRequest) {
			return
		}
		if !a2a.SameID(asked, p.Answer.ID) {
			p.Report(p.Place.At("/id"), "id is "+analysis.Quote(p.Answer.ID),
				"expected "+analysis.Quote(asked)+", the id of the request")
		}
	},
}

var streamRESTBare = &analysis.Rule{
	ID:       "stream-rest-bare",
	Title:    "HTTP+JSON event in a JSON-RPC envelope",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	Bindings: rule.OnREST,
	Cites:    rule.Cite("3.3.3", a2a.V0_3).And("11.7", a2a.V1_0),
	Stands:   "0.3.0:133 1.0.1:2950",
	Doc: `Over HTTP+JSON the data of an event is the object itself: {"task":…}, {"statusUpdate":…}. A client of this
binding finds none of these members in a JSON-RPC response.`,
	Fix: `Send the bare object. Choose the form of events by the binding of the request, not by the agent's main
interface.`,
	Silent: `In 0.3, whose text leaves the form open, the finding is a note. Only the first such event is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Answer.Doc.Err != nil {
			return
		}
		p.Applied()
		if p.Answer.IsEnvelope {
			p.Report(p.Place.At(""), "the data is a JSON-RPC response", "expected the object itself",
				analysis.AtMostIf(p.Dialects.Has(a2a.V0_3), analysis.Note))
		}
	},
}

var streamErrorLast = &analysis.Rule{
	ID:       "stream-error-last",
	Title:    "stream continues after an error",
	Level:    analysis.Advice,
	Once:     analysis.PerExchange,
	On:       analysis.EventSeen | analysis.StreamEnded,
	Needs:    []*analysis.Tracker{stream.Tracker},
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2.1", rule.Before1...).And("9.4.2", a2a.V1_0),
	Stands:   "0.1.0:850 0.2.6:types:818 0.3.0:types:1041 1.0.1:2322",
	Doc: `An error in a stream says that the call has failed. Clients report it and stop reading, so later events are
lost, while the agent believes that it delivered them. No sentence since 0.1 says so explicitly.`,
	Fix: `Close the stream after an error. Report a recoverable problem in a status update, not as an error.`,
	Silent: `Comments, events without data and events of other types, such as a ping. Only the first such event is
reported.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if s.Failed == 0 || isOver(p) || p.Answer == nil {
			return
		}
		at, what := lateEvent(p)
		p.Report(at, fmt.Sprintf("%s after the error of event %d", what, s.Failed), "expected the stream to close")
	},
}
