package analysis

import (
	"math/bits"
	"time"

	"a2atap/proxy/a2a"
)

// Kinds is a set of kinds of observations.
type Kinds uint64

// The kinds of observations.
const (
	RequestSeen Kinds = 1 << iota // a whole request was decoded
	AnswerSeen                    // a whole answer that is not an event stream was decoded
	EventSeen                     // one event of a stream was decoded
	StreamEnded                   // an event stream is over, or the capture ended before it
	CardSeen                      // an agent card came with an answer
	TaskSeen                      // a task was seen in a state: in an answer, an event, a list or a notification
	WebhookSeen                   // a notification was sent to a webhook, and answered or given up
	OutcomeSeen                   // an answer, or the first event of a stream, in the dialects of its request
	CallEnded                     // a call, the fetch of a card or a notification has ended; End has how. In all dialects if in none
	ForeignSeen                   // a later event in none of the dialects of its request, but in these

	// Derived by trackers; see Observation.Detail. A rule that wants one must name the tracker among its needs.
	DeliveryTraced // a notification, once it is known which configs can have caused it
	CardMissed     // at the end of the capture: the last fetch of a card had failed
	CardVerified   // keys are known for signatures of a card: at once, or when a client has fetched them
	ConfigIdle     // at the end of the capture: nothing was sent for a push config although its task has ended
	AgentGone      // at the end of the capture: an agent could not be reached from some exchange on
	LinkRefused    // at the end of the capture: no call of a link has succeeded, and some were answered
	CalleeAwaited  // an agent has completed a task, and it is known whether it waited for the answers to its own calls
	CalleeFailed   // at the end of the capture: an agent has completed a task although a call for it failed
	CalleeLeft     // the capture is over, and an agent has ended a task for which it had created another one elsewhere
	TraceDropped   // at the end of the capture: an agent that received trace context has passed none on
	CancelSettled  // at the end of the capture: a cancellation of a task that had not ended has succeeded
	EarlySeen      // matters only for an agent from before 0.1, once a call has identified it as one
	TaskMissed     // at the end of the capture: a recently shown task was reported as not found
	RedirectMissed // a client lost its request in a redirect, or had not followed one by the end of the capture
	LoginMissed    // at the end of the capture: a client that was refused for its credentials has never sent any

	// The objects at the typed positions of a request, response, event or notification. Each is observed separately,
	// outer ones first, right after the whole message. Observation.Entity has the object, which is always a JSON
	// object. If the value is missing or not an object, the rule for the enclosing object reports it. Objects that the
	// other side only repeats were checked when they were sent and are not observed again. See a2a.Walker.
	SnapshotSeen   // a Task
	StatusSeen     // a TaskStatus: of a Task or a status update
	MessageSeen    // a Message: sent, answered, of a status, or of a history
	PartSeen       // a Part
	ArtifactSeen   // an Artifact: of a Task or an artifact update
	UpdateSeen     // a TaskStatusUpdateEvent or TaskArtifactUpdateEvent
	PushConfigSeen // a push config, its container before 1.0, or its authentication
	FrameSeen      // the rest: params, configuration, wrapper, list of an answer, file of a part

	// For trackers alone.
	RequestDecoded // a request that is not a call by itself, before anything else about it is known
	RequestRead    // a whole request, before any of it is observed
	RequestDone    // a request, after everything in it was observed
	AnswerDone     // an answer or an event, the same
	WebhookDone    // a notification, the same
	BodySeen       // the body of an answer that is not A2A, on request of a tracker: see Exchange.Gather
	ExchangeDone   // nothing more comes of an exchange
	CaptureDone    // the capture is over; Observation.Exchange is nil

	// EntitySeen is all kinds with an Entity.
	EntitySeen = SnapshotSeen | StatusSeen | MessageSeen | PartSeen | ArtifactSeen | UpdateSeen | PushConfigSeen |
		FrameSeen

	madeByTrackers = DeliveryTraced | CardMissed | CardVerified | ConfigIdle | AgentGone | LinkRefused | CalleeAwaited |
		CalleeFailed | CalleeLeft | TraceDropped | CancelSettled | EarlySeen | TaskMissed | RedirectMissed | LoginMissed

	// ForTrackers is all kinds that no rule is given.
	ForTrackers = RequestDecoded | RequestRead | RequestDone | AnswerDone | WebhookDone | BodySeen | ExchangeDone |
		CaptureDone
)

// Each yields the kinds of the set, one by one.
func (k Kinds) Each(yield func(Kinds) bool) {
	for ; k != 0; k &= k - 1 {
		if !yield(1 << k.Number()) {
			return
		}
	}
}

// Number returns the number of a kind, from 0 to 63.
func (k Kinds) Number() int { return bits.TrailingZeros64(uint64(k)) }

// An Observation is one fact that the engine or a tracker derived from the traffic. Its kind determines which fields
// are set.
type Observation struct {
	Kind     Kinds
	Exchange *Exchange        // that it belongs to
	Dialects a2a.Dialects     // possible dialects of this message
	Place    Place            // of the observed object, down to the value if there is one
	Doc      *a2a.Doc         // the JSON text: of a whole request, answer, event or notification; or nil
	Body     []byte           // AnswerSeen, OutcomeSeen, BodySeen: the body, content coding taken off
	Answer   *a2a.Answer      // AnswerSeen, EventSeen, OutcomeSeen, ForeignSeen
	Event    *Event           // EventSeen, ForeignSeen, OutcomeSeen of a stream
	Card     *a2a.Card        // CardSeen, CardVerified, EarlySeen of a card
	Quiet    Quiet            // CardSeen, if the card may be fetched again; otherwise nil
	Task     *TaskObservation // TaskSeen
	End      *StreamEnd       // StreamEnded, CallEnded, ExchangeDone
	Entity   *a2a.Entity      // EntitySeen; Place is then the place of its text, and Pass.Here its own
	Detail   any              // additional data of a tracker, which the tracker's package reads
	Arrival  uint64           // of the step that brought it
	At       time.Time        // when that step happened, or the capture ended; zero if not known
	Pauses   []time.Time      // CaptureDone: the end times of recordings that were followed by another one in the capture, in order
}

// Quiet has the rules that depend only on a card and found nothing in it, and whether each applied. They are not run
// again on the same card, which clients fetch at every start.
type Quiet map[*Rule]bool

// Moment returns when the observation had been delivered.
func (o *Observation) Moment() Moment { return Moment{o.Arrival, o.At} }

// Snapshot returns the Task that the observation shows at its end, if it is the whole of an answer or event and may be
// compared with others.
func (o *Observation) Snapshot() (t a2a.Task, ok bool) {
	seen := o.Task
	if seen == nil || !seen.Snapshot || seen.Late || !seen.State.Terminal() ||
		o.Answer == nil || o.Answer.Payload.Kind != a2a.TaskPayload {
		return t, false
	}
	return a2a.Task{Value: o.Answer.Payload.Value}, true
}

// Succeeded returns the dialects in which an answer or an event without an error shows that the call succeeded; ok is
// false if it does not show that.
func (o *Observation) Succeeded() (in a2a.Dialects, ok bool) {
	if o.Answer.Err != nil || o.Exchange.Endpoint == nil {
		return 0, false
	}
	switch o.Answer.Payload.Kind {
	case a2a.NoPayload, a2a.UnknownPayload, a2a.ErrorPayload:
		return 0, false
	}
	return o.Answer.Payload.Dialects.NarrowedBy(o.Exchange.Dialects), true
}
