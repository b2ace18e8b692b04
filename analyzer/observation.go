package analyzer

import (
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Kinds is a set of kinds of observations.
type Kinds uint32

// The kinds of observations.
const (
	RequestSeen    Kinds = 1 << iota // a whole request was decoded
	AnswerSeen                       // a whole answer that is no event stream was decoded
	EventSeen                        // one event of a stream was decoded
	StreamEnded                      // an event stream is over, or the capture ended before it
	CardSeen                         // an agent card came with an answer
	TaskSeen                         // a task was seen in a state: in an answer, an event, a list or a notification
	WebhookSeen                      // a notification was delivered to a webhook, and answered
	OutcomeSeen                      // an answer, or the first event of a stream, as what came of a request: in the dialects of the request
	DeliveryTraced                   // the same, once it is known which configs can have caused it
	CardMissed                       // the capture is over, and the last fetch of a card had failed
	CardVerified                     // keys are known for signatures of a card: at once, or when a client has fetched them
	ConfigIdle                       // the capture is over, and nothing was sent for a push config although its task has ended

	// The objects at the typed positions of a request, an answer, an event or a notification, each on its own and outer ones
	// first, right after the observation of the whole. Observation.Entity has the object. It is always a JSON object: what
	// stands in its place and is none, or is missing, is for the rule that looks at the object around it. What the other
	// side only repeats, and was judged when it was sent, does not come again. See a2a.Walker.
	SnapshotSeen   // a Task
	StatusSeen     // a TaskStatus: of a Task or a status update
	MessageSeen    // a Message: sent, answered, of a status, or of a history
	PartSeen       // a Part
	ArtifactSeen   // an Artifact: of a Task or an artifact update
	UpdateSeen     // a TaskStatusUpdateEvent or TaskArtifactUpdateEvent
	PushConfigSeen // a push config, its container before 1.0, or its authentication
	FrameSeen      // the rest: params, configuration, wrapper, list of an answer, file of a part

	// EntitySeen is all kinds with an Entity.
	EntitySeen = SnapshotSeen | StatusSeen | MessageSeen | PartSeen | ArtifactSeen | UpdateSeen | PushConfigSeen | FrameSeen
)

// entityKinds says with which kind an entity is observed; FrameSeen for types that are not in it.
var entityKinds = [...]Kinds{
	a2a.TaskEntity:           SnapshotSeen,
	a2a.StatusEntity:         StatusSeen,
	a2a.MessageEntity:        MessageSeen,
	a2a.PartEntity:           PartSeen,
	a2a.ArtifactEntity:       ArtifactSeen,
	a2a.StatusUpdateEntity:   UpdateSeen,
	a2a.ArtifactUpdateEntity: UpdateSeen,
	a2a.PushContainerEntity:  PushConfigSeen,
	a2a.PushConfigEntity:     PushConfigSeen,
	a2a.AuthenticationEntity: PushConfigSeen,
	a2a.PushConfigListEntity: FrameSeen,
}

// An Observation is one thing that the engine understood. Which fields are set depends on its kind.
type Observation struct {
	Kind     Kinds
	Exchange *Exchange    // that it belongs to
	Dialects a2a.Dialects // of this message: what it may be in
	Place    Place        // of what was seen, down to the value where there is one
	Doc      *a2a.Doc     // the JSON text: RequestSeen, AnswerSeen, EventSeen, OutcomeSeen, WebhookSeen; nil if there was no body
	Body     []byte       // AnswerSeen, OutcomeSeen: the body, content coding taken off
	Answer   *a2a.Answer  // AnswerSeen, EventSeen, OutcomeSeen
	Event    *Event       // EventSeen, OutcomeSeen of a stream
	Card     *a2a.Card    // CardSeen
	Task     *Sighting    // TaskSeen
	End      *StreamEnd   // StreamEnded
	Entity   *a2a.Entity  // EntitySeen; Place is then that of the text that it stands in: Pass.Here is its own
	Delivery *Delivery    // DeliveryTraced
	Failure  *CardFailure // CardMissed
	Config   *PushConfig  // ConfigIdle; Task is then how its task ended, and At when the capture did
	Arrival  uint64       // of the step that brought it
	At       time.Time    // when that step happened; zero if not known

	Verified []SignatureCheck // CardVerified: the signatures whose keys are known; Card has the card
}

// An Exchange is what the engine knows of one exchange while it passes.
type Exchange struct {
	Seq      uint64
	ID       uuid.UUID
	Link     Link
	Conn     uint64       // the connection that carried it; 0 if not known
	Opened   uint64       // arrival number of its opening
	Started  time.Time    // before any byte of it was passed on
	Origin   string       // scheme and authority of the agent, never the tap's: "http://127.0.0.1:9001"
	Path     string       // escaped path of the request's target, without the query
	Request  capture.Head // as the client sent it
	Body     []byte       // the request's body, content coding taken off
	Call     a2a.Call     // what the request asks; Operation is NoOperation if it is no A2A call
	Dialects a2a.Dialects // of the request, narrowed by what cards and earlier traffic say of the endpoint
	Endpoint *Endpoint    // the URL and binding that it was sent to; nil if it is no A2A call
	Known    *Task        // the task that the request names, as the session knows it; nil if it names none or an unknown one
	Response capture.Head
	Answered bool    // the answer's head is there
	Stream   *Stream // nil unless the answer is an event stream
	Cut      bool    // something of it was not recorded
	Retry    bool    // it sends a message that was sent to the task before, or may have been: some request was not recorded

	principal      Principal // that Principal returns, once somebody has asked
	principalKnown bool

	seenBy  digest          // who is shown its answer; 0 until somebody asks
	address string          // of the URL, in the form in which the session compares
	agent   string          // what the session files its tasks under; empty if it is not known which agent this is
	tenant  string          // the same
	cards   []*Card         // that name the endpoint and had been delivered before the exchange began, newest last
	entries []a2a.Interface // of those cards, for the endpoint

	keySet    bool   // a card has named its URL as that of keys
	NoneMatch string // the request's If-None-Match as the agent got it: a tap that rewrites cards has others towards the client

	StrayPage bool  // it asks for a page by a token that no agent gave anybody in the recording
	page      *page // that the one it asks for goes on from; nil if that is not known

	unreleased bool // the client asks for a version after 1.0

	config *PushConfig // that it asks for
	hook   *hook       // that it notifies
}

// judged reports whether the exchange is one that rules look at.
func (x *Exchange) judged() bool {
	return x.Call.Operation != a2a.NoOperation || x.Call.Binding != a2a.NoBinding
}

// URL returns the agent's URL that was asked, without the query.
func (x *Exchange) URL() string { return x.Origin + x.Path }

// RequestPlace returns the place of the exchange's request.
func (x *Exchange) RequestPlace() Place { return Place{Exchange: x.Seq} }

// ResponsePlace returns the place of the exchange's response.
func (x *Exchange) ResponsePlace() Place { return Place{Exchange: x.Seq, Response: true} }

// TerminalBefore returns the sighting that showed the named task in a terminal state, fully delivered before this
// exchange began, or nil.
func (x *Exchange) TerminalBefore() *Sighting {
	if x.Known == nil || x.Known.Terminal == nil || !x.beganAfter(x.Known.Terminal) {
		return nil
	}
	return x.Known.Terminal
}

// beganAfter reports whether the exchange surely began after what was sighted had been delivered.
func (x *Exchange) beganAfter(s *Sighting) bool {
	if s.Arrival >= x.Opened {
		return false
	}
	return s.At.IsZero() || x.Started.IsZero() || s.At.Before(x.Started)
}

// An Event is one event of a stream as a rule sees it.
type Event struct {
	K            int    // from 1
	Raw          []byte // its bytes, blank line included
	Fields       capture.EventFields
	Dropped      int64 // bytes of it that were not kept: its data cannot be judged
	Unterminated bool  // the stream ended before its blank line
}
