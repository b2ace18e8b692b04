package task

import (
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// Bounds of memory. Anything beyond is forgotten, tasks in least recently used order.
const (
	maxTasks    = 10_000
	maxMessages = 16 // message ids kept for each task
)

// A Task has known facts about one task.
type Task struct {
	ID       string
	Context  *analysis.TaskObservation // the first one that named a context; nil if none did
	Moved    bool                      // it was seen in another context than the first
	Last     *analysis.TaskObservation // the newest one of a state, by arrival; nil if there was none
	Terminal *analysis.TaskObservation // the first one in a terminal state; nil if there was none
	Created  *Creation                 // the send that created it, if seen
	First    *analysis.TaskObservation // the first observation of it from an answer; may be nil
	FirstFor analysis.Principal        // the receiver of First; 0 if unknown
	Got      *analysis.TaskObservation // the newest answer to GetTask that showed it; nil if there was none
	Reopened bool                      // a message was sent to it when it had ended, or may have ended

	shownBy  uint64                   // the exchange that showed it first
	stamp    time.Time                // of its status, when it was last seen
	stamped  analysis.Moment          // when that timestamp was first seen
	ending   uint64                   // for which caller Terminal was
	canceled *Cancellation            // of it when it was known to have ended; nil if there was none
	outcome  outcome                  // that Terminal showed
	question outcome                  // of the newest observation that showed it waiting for input
	accepted *Cancel                  // the last one of it that succeeded; nil if none did
	sending  uint64                   // the send to it that has not shown it yet
	unnamed  digest.Content           // of the last message that was sent to it without an id
	sent     []*analysis.SentMessage  // to it, newest last, bounded
	first    [1]*analysis.SentMessage // room for the only one that most have
	creation Creation                 // that Created is
}

// A Creation is a send without a task id that created a task.
type Creation struct {
	Place      analysis.Place
	MessageID  string
	ContextID  string   // that the client sent; empty if none
	References []string // tasks that the message refers to
}

// A Cancellation is a request to cancel a task that was known to have ended.
type Cancellation struct {
	Place analysis.Place // of the request
	began analysis.Moment
}

// CanceledLate returns the cancellation of the ended task that began before the observation, or nil.
func (t *Task) CanceledLate(x *analysis.Exchange) *Cancellation {
	if c := t.canceled; c != nil && (c.Place.Exchange == x.Seq || x.BeganAfter(c.began)) {
		return c
	}
	return nil
}

// NewIn reports whether the exchange was the first to show the task.
func (t *Task) NewIn(x *analysis.Exchange) bool { return t.shownBy == x.Seq }

// StampedWith returns when the last timestamp of the task's status was first seen, if it equals the given one.
func (t *Task) StampedWith(stamp time.Time) (first analysis.Moment, ok bool) {
	return t.stamped, t.stamp.Equal(stamp)
}

// WasSent reports whether a message with that id was sent to the task before, or created it.
func (t *Task) WasSent(messageID string) bool { return t.message(messageID) != nil }

// repeats reports whether a request sends a message that was sent to the task before: the same id, or before 0.2, where
// messages have none, the same content as the last one.
func (t *Task) repeats(x *analysis.Exchange) bool {
	if x.Call.MessageID == "" && x.Call.Operation.Sends() && x.Dialects == a2a.Of(a2a.V0_1) {
		return t.unnamed == x.Sent()
	}
	return t.WasSent(x.Call.MessageID)
}

// message returns the message with that id that was sent to the task, or nil.
func (t *Task) message(id string) *analysis.SentMessage {
	i := slices.IndexFunc(t.sent, func(m *analysis.SentMessage) bool { return m.ID == id })
	if id == "" || i < 0 {
		return nil
	}
	return t.sent[i]
}

func (t *Task) remember(x *analysis.Exchange) {
	if x.Call.MessageID == "" && x.Call.Operation.Sends() {
		t.unnamed = x.Sent()
	}
	if id := x.Call.MessageID; id == "" || t.WasSent(id) {
		return
	}
	switch len(t.sent) {
	case 0:
		t.sent = t.first[:0]
	case maxMessages:
		t.sent = slices.Delete(t.sent, 0, 1)
	}
	t.sent = append(t.sent, analysis.SentMessageOf(x))
}

// asked remembers a request about a task. An ended task that gets a message may work again, in dialects that allow it.
func (t *Task) asked(x *analysis.Exchange) {
	op := x.Call.Operation
	if op.Sends() {
		t.Reopened = t.Reopened || t.Terminal != nil || t.sending != 0
		t.sending = x.Seq
	}
	if op == a2a.CancelTask && t.Terminal != nil && x.BeganAfter(t.Terminal.Moment()) {
		t.canceled = &Cancellation{Place: x.RequestPlace().Body(), began: x.Began()}
	}
}

// see remembers an observation of the task.
func (t *Task) see(x *analysis.Exchange, seen *analysis.TaskObservation) {
	if t.First == nil && !seen.Late {
		t.First, t.FirstFor = seen, x.KnownPrincipal()
	}
	switch {
	case seen.ContextID == "":
	case t.Context == nil:
		t.Context = seen
	case t.Context.ContextID != seen.ContextID:
		t.Moved = true
	}
	if !seen.Stamp.IsZero() && !seen.Stamp.Equal(t.stamp) {
		t.stamp, t.stamped = seen.Stamp, seen.Moment()
	}
	if t.sending == x.Seq {
		t.sending = 0
	}
	if t.Terminal == nil && seen.State.Terminal() {
		t.Terminal, t.ending = seen, x.Caller()
		t.Reopened = t.sending != 0
	}
	if seen.State.Known() {
		t.Last = seen
	}
	if x.Call.Operation == a2a.GetTask {
		t.Got = seen
	}
}

// A Cancel is a cancellation that succeeded, of a task that was not known to have ended.
type Cancel struct {
	Place  analysis.Place            // of the request
	Before *analysis.TaskObservation // the newest state of the task when it was answered; nil if none was known
	Answer *analysis.TaskObservation // the task in its answer
	After  *analysis.TaskObservation // the newest state that surely is younger; nil if none was seen
	Told   bool                      // its metadata is about the task
	Again  bool                      // an earlier one of the same agent has members in Lost, too
	Lost   []string                  // members of its metadata that nothing has shown about the task since

	exchange *analysis.Brief
	values   [][]byte // of the members in Lost, as JSON
}

// An outcome is a task's content at its end, for comparison with a later observation. The zero outcome is unknown.
type outcome struct {
	status    digest.Digest
	artifacts digest.Digest // 0 if an update showed the end
	stamped   bool          // the status has a timestamp
}
