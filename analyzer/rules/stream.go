package rules

import (
	"fmt"
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Streams is the family of rules about what an event stream carries, and when it ends.
var Streams = []*analyzer.Rule{
	StreamFirstEvent,
	StreamMessageOnly,
	StreamClosedOnTerminal,
	StreamNothingAfterFinal,
	StreamTruncated,
	StreamRPCID,
	StreamStillOpen,
}

// StreamFirstEvent reports a stream that does not begin with a Task or a Message.
var StreamFirstEvent = &analyzer.Rule{
	ID:       "stream-first-event",
	Title:    "stream begins with neither Task nor Message",
	Family:   "stream",
	Category: analyzer.Streaming,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.EventSeen,
	Bindings: onCall,
	Cites:    cite("3.1.2", a2a.V1_0),
	Doc: `The stream that answers a message begins with the Task that the message started or continued, or is one Message. Updates
name a task by its id only: a client that never saw the task cannot tell what they are about.`,
	Fix:    `Send the Task as the first event, before any update; or, where there is no task, send one Message and close.`,
	Silent: `An error as the first event, events that cannot be read, and subscriptions.`,
	Check: func(p *analyzer.Pass) {
		if p.Answer == nil || p.Exchange.Call.Operation != a2a.SendStreamingMessage || !opensStream(p) {
			return
		}
		p.Applied()
		switch kind := p.Answer.Payload.Kind; kind {
		case a2a.StatusPayload, a2a.ArtifactPayload:
			p.Report(p.Place.At(p.Answer.Payload.Pointer), "the first event is "+kind.String(), "expected a Task or a Message")
		}
	},
}

// opensStream reports whether the event at hand is surely the first of its stream.
func opensStream(p *analyzer.Pass) bool {
	return p.Exchange.Stream.Events == 0 && !p.Exchange.Stream.Gap
}

// StreamMessageOnly reports events after the Message that is the whole answer.
var StreamMessageOnly = &analyzer.Rule{
	ID:       "stream-message-only",
	Title:    "stream goes on after its Message",
	Family:   "stream",
	Category: analyzer.Streaming,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.EventSeen | analyzer.StreamEnded,
	Bindings: onCall,
	Cites:    cite("3.1.2", a2a.V1_0),
	Doc: `A stream that begins with a Message consists of that Message alone and closes. Clients take the Message for the answer
and stop reading: what follows is lost.`,
	Fix:    `Close the stream after the Message. An agent that wants to send more starts a task and sends the Task first.`,
	Silent: `Comments, events without data and events of other types, such as a ping. Of several such events the first is reported.`,
	Check: func(p *analyzer.Pass) {
		s := p.Exchange.Stream
		if p.Exchange.Call.Operation != a2a.SendStreamingMessage || s.Events == 0 || s.First != a2a.MessagePayload {
			return
		}
		if isOver(p) || p.Answer == nil {
			return
		}
		p.Report(p.Place.At(p.Answer.Payload.Pointer), fmt.Sprintf("%s follows the Message of event %d", p.Answer.Payload.Kind, s.Message), "expected the stream to be that Message alone")
	},
}

// StreamClosedOnTerminal reports events after the one that ended the task.
var StreamClosedOnTerminal = &analyzer.Rule{
	ID:       "stream-closed-on-terminal",
	Title:    "stream goes on after the task has ended",
	Family:   "stream",
	Category: analyzer.Streaming,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.EventSeen | analyzer.StreamEnded,
	Bindings: onCall,
	Cites: slices.Concat(
		cite("3.1.2", a2a.V1_0),
		cite("3.1.6", a2a.V1_0),
	),
	Covers: []string{"state-terminal-immutable"},
	Doc: `When a task reaches a terminal state the agent closes the stream. Clients stop listening at that event, so what comes
later reaches some of them and not others.`,
	Fix:    `Send artifacts and messages before the terminal state, and close the stream after it.`,
	Silent: `One Task in the same state that repeats the outcome before the stream closes. Of several such events the first is reported.`,
	Check: func(p *analyzer.Pass) {
		s := p.Exchange.Stream
		if s.Terminal == 0 || isOver(p) || p.Answer == nil {
			return
		}
		payload := p.Answer.Payload
		if payload.Kind == a2a.TaskPayload && s.Settled == 0 && (a2a.Task{Value: payload.Value}).State() == s.Ended {
			return
		}
		at, what := afterwards(p)
		p.Report(at, fmt.Sprintf("%s after event %d ended the task as %q", what, s.Terminal, s.Ended.Spelling(a2a.V1_0)), "expected the stream to close, at most after one final Task")
	},
}

// isOver reports whether what is at hand is the end of the stream. A rule about what may not follow has then been judged,
// unless the recording ended first.
func isOver(p *analyzer.Pass) bool {
	if p.Kind == analyzer.StreamEnded && !p.End.Open {
		p.Applied()
	}
	return p.Kind == analyzer.StreamEnded
}

// afterwards returns the place and the description of an event that came too late: down to the state if it has one.
func afterwards(p *analyzer.Pass) (analyzer.Place, string) {
	payload := p.Answer.Payload
	switch payload.Kind {
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: payload.Value}
		return p.Place.At(a2a.Ptr(payload.Pointer, "status", "state")), "status " + analyzer.QuoteText(u.StateText())
	case a2a.TaskPayload:
		t := a2a.Task{Value: payload.Value}
		return p.Place.At(a2a.Ptr(payload.Pointer, "status", "state")), "a Task in state " + analyzer.QuoteText(t.StateText())
	}
	return p.Place.At(payload.Pointer), payload.Kind.String()
}

// StreamNothingAfterFinal reports events after the one that was announced as the last.
var StreamNothingAfterFinal = &analyzer.Rule{
	ID:       "stream-nothing-after-final",
	Title:    "event after final:true",
	Family:   "stream",
	Category: analyzer.Streaming,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.EventSeen | analyzer.StreamEnded,
	Bindings: onCall,
	Cites:    cite("7.2.2", before1...),
	Covers:   []string{"state-terminal-immutable"},
	Doc: `A status update with final:true is the last event of its stream. Clients close the connection there, so what comes later
reaches some of them and not others.`,
	Fix: `Set final on the last event only, and send artifacts before it.`,
	Silent: `In the proto flavour of 0.2 and 0.3 over HTTP+JSON only further status updates count, since artifacts may follow there; on a resubscription
only an end in a terminal state counts, since earlier rounds may be replayed. Of several such events the first is reported.`,
	Check: func(p *analyzer.Pass) {
		s := p.Exchange.Stream
		final := s.Final
		if p.Exchange.Call.Operation == a2a.SubscribeToTask {
			final = s.Closing
		}
		if final == 0 || isOver(p) || p.Answer == nil {
			return
		}
		if p.Exchange.Call.Binding == a2a.HTTPJSON && p.Answer.Payload.Kind != a2a.StatusPayload {
			return
		}
		at, what := afterwards(p)
		p.Report(at, fmt.Sprintf("%s after event %d said final", what, final), "expected nothing after it")
	},
}

// StreamTruncated reports a stream that the agent ends while the task goes on.
var StreamTruncated = &analyzer.Rule{
	ID:       "stream-truncated",
	Title:    "agent ends the stream while the task is active",
	Family:   "stream",
	Category: analyzer.Streaming,
	Level:    analyzer.Should,
	Side:     a2a.Agent,
	On:       analyzer.StreamEnded,
	Bindings: onCall,
	Cites: slices.Concat(
		cite("9.2", a2a.V0_1),
		cite("9.3", a2a.V0_2, a2a.V0_3),
		cite("11.7", a2a.V1_0),
	),
	Doc: `An agent keeps a stream open until the task ends or waits for the client. A stream that ends before leaves the client
without the outcome: it has to find out by itself that it should ask again.`,
	Fix: `Close the stream only after a terminal state, after input-required or auth-required, or after a Message. If the agent has to
stop, let it end the task as failed first.`,
	Silent: `Streams that the client left, that broke, that were cut short of their framing or by the end of the recording; streams with an error, a Message or final:true; tasks whose state was never seen, or seen at rest elsewhere.`,
	Check: func(p *analyzer.Pass) {
		s := p.Exchange.Stream
		if !p.End.Clean || s.Gap || s.Events == 0 || s.Failed+s.Message+s.Final+s.Terminal > 0 {
			return
		}
		if !s.State.Known() {
			return
		}
		p.Applied()
		known := p.Session.TaskOf(p.Exchange, s.TaskID)
		elsewhere := known != nil && known.Last != nil && !known.Last.State.Active()
		if s.State.Active() && !elsewhere {
			p.Report(p.Place, fmt.Sprintf("the stream ends after %d events with task %s %q", s.Events, analyzer.QuoteText(s.TaskID), s.State),
				"expected it to stay open until the task ends or waits for the client")
		}
	},
}

// StreamRPCID reports an event whose id is not the request's.
var StreamRPCID = &analyzer.Rule{
	ID:       "stream-rpc-id",
	Title:    "event's JSON-RPC id differs from the request's",
	Family:   "stream",
	Category: analyzer.Streaming,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.EventSeen,
	Bindings: onRPC,
	Cites: slices.Concat(
		cite("7.2.1", before1...),
		cite("JSON-RPC 2.0 §5", a2a.V1_0),
	),
	Doc: `Each event of a JSON-RPC stream is a response to the one request, and carries its id with the same JSON type. A client
that checks it drops events with another one.`,
	Fix:    `Copy the id of the request into every event: a number stays that number, a string that string.`,
	Silent: `1 and 1.0 are the same number. An error under the codes for unreadable requests may carry null. An event without id is not judged here. Of several such events the first is reported.`,
	Check: func(p *analyzer.Pass) {
		asked := p.Exchange.Call.ID
		if p.Answer == nil || !isID(asked) || !p.Answer.ID.Exists() {
			return
		}
		p.Applied()
		if failure := p.Answer.Err; p.Answer.ID.IsNull() && failure != nil && (failure.Name == a2a.ParseError || failure.Name == a2a.InvalidRequest) {
			return
		}
		if !a2a.SameID(asked, p.Answer.ID) {
			p.Report(p.Place.At("/id"), "id is "+analyzer.Quote(p.Answer.ID), "expected "+analyzer.Quote(asked)+", the id of the request")
		}
	},
}

// StreamStillOpen notes a stream that had not ended when the recording did.
var StreamStillOpen = &analyzer.Rule{
	ID:       "stream-still-open",
	Title:    "stream was open when the recording stopped",
	Family:   "stream",
	Category: analyzer.Streaming,
	Level:    analyzer.Advice,
	Side:     a2a.Agent,
	On:       analyzer.StreamEnded,
	Bindings: onCall,
	Cites: slices.Concat(
		cite("7.2", before1...),
		cite("3.1.2", a2a.V1_0),
	),
	Doc: `The recording stopped while this stream was open. That is nobody's fault; it is said because nothing can be known of how the
stream would have ended, and a verdict should not pass over it.`,
	Fix:    `Let the recording run until the agents are done, if the end of the stream matters.`,
	Silent: `Streams that ended by themselves or broke, whoever broke them.`,
	Check: func(p *analyzer.Pass) {
		p.Applied()
		if p.End.Open {
			p.Report(p.Place, fmt.Sprintf("the stream was open after %d events when the recording stopped", p.Exchange.Stream.Events),
				"nothing is known of its end")
		}
	},
}
