// Package analyzer judges recorded exchanges against the A2A protocol.
//
// An Engine reads the steps of a capture in their order of arrival, once, and turns them into observations: a request
// decoded, an answer decoded, an event of a stream, a stream that ended, a card, a task seen in some state, a
// notification. Each observation goes to the rules that want it, and then to the trackers that want it. A rule sees the
// observation, and through the trackers that it needs what was known before, and reports findings; it has no state of
// its own. See Tracker for the order. The same code runs live and on a finished capture, so both find the same.
//
// # What comes in which order
//
// Of one exchange the observations come in this order; those in brackets are for trackers alone. The constants say what
// each one is.
//
//	a request       [RequestDecoded], if it is not a call by itself; [RequestRead]; RequestSeen;
//	                its objects, outer ones first; [RequestDone]
//	an answer       AnswerSeen; OutcomeSeen; its objects; each task in it (TaskSeen), or the card (CardSeen);
//	                [AnswerDone]
//	each event      EventSeen; OutcomeSeen, of the first, or ForeignSeen; its objects; its task; [AnswerDone]
//	a stream        StreamEnded
//	a notification  WebhookSeen; its objects; its task; [WebhookDone]
//	everything      [ExchangeDone]; at the end of the capture [CaptureDone]
//
// What is needed to read a request is in the engine itself: which binding and dialects are spoken at an address, by what
// cards declare and calls have shown, and which addresses are one agent. Three trackers help: push recognises the
// notifications to a webhook that was configured, task knows which messages of a history were judged when they were
// sent, and signature asks for the bodies of key sets.
//
// # What the engine promises
//
//   - A finding is a fact. Where the record has a gap, where the dialect is not decided, or where two exchanges overlap
//     and their order is not certain, rules report nothing.
//   - One cause, one finding: a rule that covers another one is reported in its place, and names it.
//   - Memory is bounded: tasks, endpoints and webhooks that were not seen for long are forgotten, least recently used
//     first. What was forgotten is unknown, and counted.
//   - Coverage counts, for each rule and link, how often it applied and how often it was broken. A rule that never
//     applied was not observed, which is not the same as kept.
//
// # Caveats
//
// An Engine is not safe for concurrent use. Everything a Pass hands to a check is valid only during that call.
package analyzer
