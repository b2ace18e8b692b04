// Package analysis is the framework for rules about recorded A2A traffic: a Rule and its Pass, the kinds of
// Observations, the Tracker that remembers earlier ones, and the Finding that reports what is wrong, with its Place.
//
// To check a capture, see package analyzer, or package engine for a choice of rules.
//
// An engine reads the steps of a capture in their order of arrival, once, and turns them into observations: a request
// decoded, an answer decoded, an event of a stream, a stream that ended, a card, a task seen in some state, a
// notification. Each observation goes to the rules that want it, and then to the trackers that want it. A rule sees the
// observation, and through the trackers that it needs what was known before, and reports findings; it has no state of
// its own. See Tracker for the order. The same code runs live and on a finished capture, so both find the same.
//
// # What comes in which order
//
// The observations of one exchange come in this order; those in brackets are only for trackers. The constants describe
// each.
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
// Everything that a Pass gives to a check is valid only during that call. Runner and Session are for engines.
package analysis
