package stream

import (
	"fmt"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// Endings is the family of rules about how and when an event stream ends.
var Endings = rule.Family{
	Name:     "ending",
	Category: analysis.Streaming,
	Side:     a2a.Agent,
	On:       analysis.StreamEnded,
	Bindings: rule.OnCall,
}.Of(
	streamClosedOnTerminal,
	streamNothingAfterFinal,
	streamMessageCloses,
	streamEndsAfterTerminal,
	streamClosesAfterFinal,
	streamTerminalWithoutFinal,
	streamFinalActiveState,
	streamTruncated,
	streamEmpty,
	streamSilent,
	streamStillOpen,
)

var streamClosedOnTerminal = &analysis.Rule{
	ID:     "stream-closed-on-terminal",
	Title:  "stream continues after the task has ended",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.EventSeen | analysis.StreamEnded,
	Needs:  []*analysis.Tracker{card.Tracker, stream.Tracker, task.Tracker},
	Cites:  rule.Cite("3.1.2", a2a.V1_0).And("3.1.6", a2a.V1_0),
	Covers: []string{"state-terminal-immutable", "stream-no-message-in-task-stream"},
	Stands: "1.0.1:210 1.0.1:309",
	Doc: `When a task reaches a terminal state, the agent closes the stream. Clients stop listening at that event, so
later events reach only some of them.`,
	Fix: `Send artifacts and messages before the terminal state, and close the stream after it.`,
	Silent: `One Task in the same state that repeats the outcome before the stream closes; the gRPC status with which
it closes, which grpc-ended-fails covers. Only the first such event is reported.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if s.Terminal == 0 || isOver(p) || p.Answer == nil || isStatus(p) || rule.Reopens(p) {
			return
		}
		payload := p.Answer.Payload
		if payload.Kind == a2a.TaskPayload && s.Repeated == 0 && (a2a.Task{Value: payload.Value}).State() == s.Ended {
			return
		}
		at, what := lateEvent(p)
		p.Report(at, fmt.Sprintf("%s after event %d ended the task as %q", what, s.Terminal, s.Ended.Spelling(a2a.V1_0)),
			"expected the stream to close after at most one final Task")
	},
}

// isOver reports whether the current observation is the end of the stream. Rules about later events have then been
// checked, unless the recording ended first.
func isOver(p *analysis.Pass) bool {
	if p.Kind == analysis.StreamEnded && !p.End.Open {
		p.Applied()
	}
	return p.Kind == analysis.StreamEnded
}

// isStatus reports whether the current observation is the status of gRPC with which a stream closes.
func isStatus(p *analysis.Pass) bool { return p.Answer.Err != nil && p.Answer.Err.GRPCStatus != "" }

// lateEvent returns the place and the description of a late event: down to the state if it has one.
func lateEvent(p *analysis.Pass) (analysis.Place, string) {
	payload := p.Answer.Payload
	switch payload.Kind {
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: payload.Value}
		return p.Place.At(a2a.Ptr(payload.Pointer, "status", "state")), "status " + analysis.QuoteText(u.StateText())
	case a2a.TaskPayload:
		t := a2a.Task{Value: payload.Value}
		return p.Place.At(a2a.Ptr(payload.Pointer, "status", "state")), "a Task in state " + analysis.QuoteText(t.StateText())
	}
	return p.Place.At(payload.Pointer), payload.Kind.String()
}

var streamNothingAfterFinal = &analysis.Rule{
	ID:     "stream-nothing-after-final",
	Title:  "event after final:true",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.EventSeen | analysis.StreamEnded,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("7.2.2", rule.Before1...),
	Covers: []string{"state-terminal-immutable"},
	Stands: "0.1.0:874 0.2.6:types:221 0.3.0:types:528",
	Doc: `A status update with final:true is the last event of its stream. Clients close the connection there, so
later events reach only some of them.`,
	Fix: `Set final only on the last event, and send artifacts before it.`,
	Silent: `In the proto flavor of 0.2 and 0.3 over HTTP+JSON only later status updates count, since artifacts may
follow there. On a resubscription only a terminal state counts, since earlier rounds may be replayed. Only the first
such event is reported.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		final := s.Final
		if p.Exchange.Call.Operation == a2a.SubscribeToTask {
			final = s.Closing
		}
		if final == 0 || isOver(p) || p.Answer == nil {
			return
		}
		if p.Exchange.Call.Binding != a2a.JSONRPC && p.Answer.Payload.Kind != a2a.StatusPayload {
			return
		}
		at, what := lateEvent(p)
		p.Report(at, fmt.Sprintf("%s after event %d had final:true", what, final), "expected nothing after it")
	},
}

// Grace is how long a stream may stay open after its last event.
const grace = 5 * time.Second

var streamMessageCloses = &analysis.Rule{
	ID:     "stream-message-closes",
	Title:  "stream stays open after its Message",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("3.1.2", a2a.V1_0),
	Stands: "1.0.1:208",
	Doc: `A stream that consists of one Message closes after it. While the body is open, a client that reads to the
end waits, and both sides keep an unused connection.`,
	Fix: `End the body of the answer right after the Message. The connection itself may stay open.`,
	Silent: `Up to five seconds; recordings without times; the connection after the body has ended. Since the clock is
the recorder's, and a slow client may delay an agent, the finding is never more than a warning.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if s.First != a2a.MessagePayload || s.Events != 1 {
			return
		}
		judgeLateClose(p, s.Message, "the Message", analysis.Warning)
	},
}

// judgeLateClose judges how long the body stayed open after its last event, which should have closed it. Event is the
// number of the one that is to blame.
func judgeLateClose(p *analysis.Pass, event int, what string, worst analysis.Severity) {
	s := stream.Of(p).In(p.Exchange)
	open, known := s.OpenAfter(p.End)
	if s.Gap || s.Rest != nil || !known {
		return
	}
	p.Applied()
	if open >= grace {
		p.Report(p.Exchange.ResponsePlace().Event(event),
			fmt.Sprintf("the body was open %s after %s", open.Round(100*time.Millisecond), what),
			"expected it to end at once", analysis.AtMost(worst))
	}
}

var streamEndsAfterTerminal = &analysis.Rule{
	ID:     "stream-ends-after-terminal",
	Title:  "stream stays open after the task has ended",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("3.1.2", a2a.V1_0).And("3.1.6", a2a.V1_0),
	Stands: "1.0.1:210 1.0.1:309",
	Doc: `When a task reaches a terminal state, the agent closes its streams. 1.0 has no other sign that no more
events will come: a client that reads to the end waits for a timeout.`,
	Fix: `End the body of the answer after the terminal state, or after the final Task that may follow it. The
connection itself may stay open.`,
	Silent: `Up to five seconds; recordings without times; streams that continue with other events, which another rule
reports. Since the clock is the recorder's, and a slow client may delay an agent, the finding is never more than a
warning.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if s.Terminal == 0 || s.Newest != s.Terminal && s.Newest != s.Repeated {
			return
		}
		judgeLateClose(p, s.Terminal, "the task had ended", analysis.Warning)
	},
}

var streamClosesAfterFinal = &analysis.Rule{
	ID:     "stream-closes-after-final",
	Title:  "stream stays open after final:true",
	Level:  analysis.Should,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("9.2", a2a.V0_1).And("9.3", a2a.V0_2, a2a.V0_3),
	Stands: "0.1.0:1179 0.2.6:1277 0.3.0:1478",
	Doc: `After the event with final:true the agent usually closes the stream. A client that reads to the end of the
body, not to that event, waits for a timeout.`,
	Fix: `End the body of the answer right after the final event. The connection itself may stay open.`,
	Silent: `Up to five seconds; recordings without times; streams that continue with other events, which another rule
reports; on a resubscription, which may replay earlier rounds, only a terminal state counts.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		final := s.Final
		if p.Exchange.Call.Operation == a2a.SubscribeToTask {
			final = s.Closing
		}
		if final == 0 || s.Newest != final && p.Exchange.Call.Binding == a2a.JSONRPC {
			return
		}
		judgeLateClose(p, final, "final:true", analysis.Warning)
	},
}

var streamTerminalWithoutFinal = &analysis.Rule{
	ID:     "stream-terminal-without-final",
	Title:  "stream ends without final:true",
	Level:  analysis.Should,
	Needs:  []*analysis.Tracker{card.Tracker, stream.Tracker},
	Cites:  rule.Cite("7.2.2", rule.Before1...),
	Stands: "0.1.0:890 0.2.6:types:221 0.3.0:types:528",
	Doc: `Before 1.0 the last update of a stream has final:true. Clients stop at that mark; without it they treat the
end of the stream as a broken connection, and subscribe again.`,
	Fix: `Set final:true on the status update that ends the task.`,
	Silent: `Streams that end with a Task or consist of a Message, streams with a gap, and streams that the client
left or that broke; streams in which final is not a boolean, which another rule reports; over HTTP+JSON, requests that
may be of 1.0; over gRPC, agents whose card is not known to give a version before 1.0, since the drafts of 1.0 have
the same service.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if !p.End.Clean || s.Gap || s.Terminal == 0 || !s.Updated || s.Repeated > 0 || s.Message > 0 || s.Failed > 0 ||
			s.Unclear || s.Rest != nil {
			return
		}
		if p.Exchange.Call.Binding == a2a.HTTPJSON && p.Exchange.Dialects.Has(a2a.V1_0) {
			return // the request may be of 1.0, and only a spelling indicates that the stream is not
		}
		if p.Exchange.Call.Binding == a2a.GRPC && !rule.BeforeDrafts(p) {
			return
		}
		p.Applied()
		if s.Final == 0 {
			p.Report(p.Exchange.ResponsePlace().Event(s.Terminal),
				fmt.Sprintf("the task ended as %q, and the stream ended without final:true", s.Ended),
				"expected final:true on this event")
		}
	},
}

var streamFinalActiveState = &analysis.Rule{
	ID:     "stream-final-active-state",
	Title:  "final:true while the task is active",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	On:     analysis.EventSeen,
	Cites:  rule.Cite("7.2.2", rule.Before1...),
	Stands: "0.1.0:890 0.2.6:types:222 0.3.0:types:528",
	Doc: `The last update of the stream leaves the task submitted or working. The client stops listening there, and
has to poll for the rest of the task.`,
	Fix:    `Use final:true only for the update that ends the task or makes it wait for the client.`,
	Silent: `The states unknown, input-required and auth-required. Only the first such event in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Answer.Payload.Kind != a2a.StatusPayload {
			return
		}
		u := a2a.StatusUpdate{Value: p.Answer.Payload.Value}
		if !u.Final() || !u.State().Known() {
			return
		}
		p.Applied()
		if u.State().Active() {
			p.Report(p.Place.At(a2a.Ptr(p.Answer.Payload.Pointer, "final")),
				"final is true, and the task is "+analysis.QuoteText(u.StateText()),
				"expected a task that has ended or waits for the client")
		}
	},
}

var streamTruncated = &analysis.Rule{
	ID:     "stream-truncated",
	Title:  "agent ends the stream while the task is active",
	Level:  analysis.Should,
	Needs:  []*analysis.Tracker{stream.Tracker, task.Tracker},
	Cites:  rule.Cite("7.2", rule.Before1...).And("11.7", a2a.V1_0),
	Stands: "0.1.0:826 0.2.6:517 0.3.0:726 1.0.1:2973",
	Doc: `An agent keeps a stream open until the task ends or waits for the client. If the stream ends earlier, the
client does not get the outcome, and has to know that it should ask again.`,
	Fix: `Close the stream only after a terminal state, after input-required or auth-required, or after a Message. If
the agent has to stop, set the task to failed first.`,
	Silent: `Streams that the client left, that broke, or that were cut by their framing or by the end of the
recording; streams with an error, a Message or final:true; a last event without its blank line, which another rule
reports; tasks whose state was never seen, or that another exchange showed as ended or waiting.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if !p.Exchange.Call.Streams || !p.End.Clean || s.Gap || s.Events == 0 || s.Failed+s.Message+s.Final+s.Terminal > 0 {
			return
		}
		if !s.State.Known() || s.Rest != nil && s.Rest.Fields.HasData { // which sse-unterminated-event reports
			return
		}
		p.Applied()
		known := task.Of(p).Get(p.Exchange, s.TaskID)
		elsewhere := known != nil && known.Last != nil && !known.Last.State.Active()
		if s.State.Active() && !elsewhere {
			p.Report(p.Place,
				fmt.Sprintf("the stream ends after %d events with task %s %q", s.Events, analysis.QuoteText(s.TaskID), s.State),
				"expected it to stay open until the task ends or waits for the client")
		}
	},
}

var streamEmpty = &analysis.Rule{
	ID:     "stream-empty",
	Title:  "stream without any event",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("7.2", rule.Before1...).And("3.1.2", a2a.V1_0).And("3.1.6", a2a.V1_0),
	Stands: "0.1.0:826 0.2.6:517 0.3.0:726 1.0.1:206 1.0.1:311",
	Doc: `The agent opened a stream and closed it without an event. The client gets neither an answer nor an error,
and does not know whether its message was accepted.`,
	Fix: `Send the Task or Message as the first event, or an error. Look for a handler that fails after it has sent
the head.`,
	Silent: `Streams that the client left, that broke, or that the end of the recording cut; a 0.x resubscription,
which promises only later events; a last event without its blank line, which another rule reports. Before 1.0 the
finding is a warning.`,
	Check: func(p *analysis.Pass) {
		x, s := p.Exchange, stream.Of(p).In(p.Exchange)
		if !p.End.Clean || s.Gap || s.Rest != nil && s.Rest.Fields.HasData || x.Response.Status != 200 ||
			!x.Call.Operation.Streams() || mayRepeatEvents(p) ||
			x.Call.Binding == a2a.GRPC && !grpc.IsMedia(x.Response.Fields.Get("Content-Type")) {
			return
		}
		p.Applied()
		worst := analysis.Warning
		if p.Dialects == a2a.Of(a2a.V1_0) {
			worst = analysis.Error
		}
		if s.Events == 0 {
			seen := "the stream ended without any event"
			if s.ErrorData != "" {
				seen = `the stream ended with only an event of type "error", which is not an A2A error: ` +
					analysis.QuoteText(s.ErrorData)
			}
			p.Report(p.Place, seen, "expected a Task, a Message or an error", analysis.AtMost(worst))
		}
	},
}

// longSilence is how long a stream may send no event before a client that leaves counts as evidence against the agent.
const longSilence = time.Second

var streamSilent = &analysis.Rule{
	ID:     "stream-silent",
	Title:  "stream sent nothing until its client left",
	Level:  analysis.Advice,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("7.2", rule.Before1...).And("3.1.2", a2a.V1_0),
	Stands: "0.1.0:826 0.2.6:517 0.3.0:726 1.0.1:206",
	Doc: `The agent opened a stream and sent no event for a second or more, until the client left. The client cannot
tell a working agent from one that hangs.`,
	Fix: `Send the Task as the first event, before the work begins, and a status update from time to time. Look for a
handler that waits for something after it has sent the head.`,
	Silent: `Clients that left earlier, or after an event; 0.x resubscriptions, which promise only later events;
streams that the agent, a fault or the recording ended, which other rules cover.`,
	Check: func(p *analysis.Pass) {
		x, s := p.Exchange, stream.Of(p).In(p.Exchange)
		if p.End.Fault == nil || p.End.Fault.Side != "client" || s.Gap || x.Cut || x.Response.Status != 200 ||
			!x.Call.Operation.Streams() || mayRepeatEvents(p) || p.End.At.IsZero() || x.Started.IsZero() {
			return
		}
		p.Applied()
		if open := p.End.At.Sub(x.Started); s.Events == 0 && open >= longSilence {
			p.Report(p.Place, fmt.Sprintf("the stream sent no event in %.1f s, then its client left", open.Seconds()),
				"expected a Task, a Message or an error as the first event")
		}
	},
}

var streamStillOpen = &analysis.Rule{
	ID:     "stream-still-open",
	Title:  "stream was open when the recording stopped",
	Level:  analysis.Advice,
	Cites:  rule.Cite("7.2", rule.Before1...).And("3.1.2", a2a.V1_0),
	Stands: "0.1.0:826 0.2.6:517 0.3.0:726 1.0.1:206",
	Doc: `The recording stopped while this stream was open. No one is at fault. It is reported because the end of the
stream is unknown, and a verdict should not ignore that.`,
	Fix:    `Let the recording run until the agents are done, if the end of the stream matters.`,
	Silent: `Streams that ended normally or broke, on either side.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if p.End.Open {
			p.Report(p.Place,
				fmt.Sprintf("the stream was open after %d events when the recording stopped", p.Exchange.Stream.Events),
				"its end is unknown")
		}
	},
}
