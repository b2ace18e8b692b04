// Package analysis is what rules about recorded A2A traffic are written in: a Rule and the Pass that it gets, the
// Observations that there are, the Tracker that remembers earlier ones, and the Finding that says what is wrong, with
// its Place.
//
// To judge a capture, see package analyzer, or package engine for a choice of rules.
//
// An engine reads the steps of a capture in their order of arrival, once, and turns them into observations: a request
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
// # Caveats
//
// Everything that a Pass hands to a check is valid only during that call. Runner and Session are for engines.
package analysis
