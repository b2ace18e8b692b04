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
	CallEnded                     // a call, the fetch of a card or a notification is over; End says how. In all dialects if in none
	ForeignSeen                   // a later event that is in none of the dialects of its request, in these

	// What trackers make of what they know; Observation.Detail has it. A rule that wants one needs the tracker.
	DeliveryTraced // a notification, once it is known which configs can have caused it
	CardMissed     // the capture is over, and the last fetch of a card had failed
	CardVerified   // keys are known for signatures of a card: at once, or when a client has fetched them
	ConfigIdle     // the capture is over, and nothing was sent for a push config although its task has ended
	AgentGone      // the capture is over, and an agent could not be reached from some exchange on
	LinkRefused    // the capture is over, and no call of a link has succeeded, and some were answered
	CalleeAwaited  // an agent has completed a task, and it is known whether it waited for what it had asked for it
	CalleeFailed   // the capture is over, and an agent has completed a task for which it had asked what failed
	CalleeLeft     // the capture is over, and an agent has ended a task for which it had made another one, elsewhere
	TraceDropped   // the capture is over, and an agent that received trace context has passed none on
	CancelSettled  // the capture is over, and a cancellation of a task that had not ended has succeeded
	EarlySeen      // what matters only in an agent from before 0.1, once a call has shown that it is one
	TaskMissed     // the capture is over, and a call was told that a task is not found which was shown shortly before
	RedirectMissed // a client lost its request in a redirect; or the capture is over, and it has not followed one
	LoginMissed    // the capture is over, and a client that was refused for its credentials has never sent any

	// The objects at the typed positions of a request, an answer, an event or a notification, each on its own and outer
	// ones first, right after the observation of the whole. Observation.Entity has the object. It is always a JSON
	// object: what stands in its place and is none, or is missing, is for the rule that looks at the object around it.
	// What the other side only repeats, and was judged when it was sent, does not come again. See a2a.Walker.
	SnapshotSeen   // a Task
	StatusSeen     // a TaskStatus: of a Task or a status update
	MessageSeen    // a Message: sent, answered, of a status, or of a history
	PartSeen       // a Part
	ArtifactSeen   // an Artifact: of a Task or an artifact update
	UpdateSeen     // a TaskStatusUpdateEvent or TaskArtifactUpdateEvent
	PushConfigSeen // a push config, its container before 1.0, or its authentication
	FrameSeen      // the rest: params, configuration, wrapper, list of an answer, file of a part

	// For trackers alone.
	RequestDecoded // a request that is not a call by itself, before anything else is known of it
	RequestRead    // a whole request, before any of it is observed
	RequestDone    // a request, after everything in it was observed
	AnswerDone     // an answer or an event, the same
	WebhookDone    // a notification, the same
	BodySeen       // the body of an answer that is not A2A, which a tracker has asked for: see Exchange.Gather
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

// An Observation is one thing that the engine or a tracker understood. Which fields are set depends on its kind.
type Observation struct {
	Kind     Kinds
	Exchange *Exchange        // that it belongs to
	Dialects a2a.Dialects     // of this message: what it may be in
	Place    Place            // of what was seen, down to the value where there is one
	Doc      *a2a.Doc         // the JSON text: of a whole request, answer, event or notification; or nil
	Body     []byte           // AnswerSeen, OutcomeSeen, BodySeen: the body, content coding taken off
	Answer   *a2a.Answer      // AnswerSeen, EventSeen, OutcomeSeen, ForeignSeen
	Event    *Event           // EventSeen, ForeignSeen, OutcomeSeen of a stream
	Card     *a2a.Card        // CardSeen, CardVerified, EarlySeen of a card
	Quiet    Quiet            // CardSeen, where the card may come again; else nil
	Task     *TaskObservation // TaskSeen
	End      *StreamEnd       // StreamEnded, CallEnded, ExchangeDone
	Entity   *a2a.Entity      // EntitySeen; Place is then that of the text that it stands in: Pass.Here is its own
	Detail   any              // what a tracker says beside; the tracker's package reads it
	Arrival  uint64           // of the step that brought it
	At       time.Time        // when that step happened, or the capture ended; zero if not known
}

// Quiet is the rules of which it is known that they find nothing in a card: those that take nothing but the card. They
// Quiet is the rules that take nothing but a card and have found nothing in it, and whether each applied. They are not
// run again on the same card, which clients fetch at every start.
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
// false if it shows nothing of the kind.
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
