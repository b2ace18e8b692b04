package analysis

import (
	"time"

	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// A TaskObservation is one observation of a task: in an answer, an event, a list or a notification.
type TaskObservation struct {
	Object    Place // of the Task or of the update that names it
	Snapshot  bool  // it is a whole Task, not an update
	Exchange  uint64
	Arrival   uint64    // of the step that completed its delivery
	At        time.Time // when that happened; zero if not known
	TaskID    string
	ContextID string        // empty if the object named none
	State     a2a.State     // the zero State if it named no known state
	Spelling  string        // of the state, as on the wire
	Event     bool          // it came in a stream or a notification, not in an answer
	Late      bool          // it may be older than its arrival: a webhook's retry, a replay of a 0.x resubscription
	Stamp     time.Time     // of a snapshot's status, from the agent; zero without one
	Viewer    digest.Digest // that it was shown to: see Exchange.Viewer
	IDNamed   bool          // an update calls the task's id "id", as in 0.1
}

// StatePlace returns the place of the state, or of the object if it has no state.
func (t *TaskObservation) StatePlace() Place {
	if t.Spelling == "" {
		return t.Object
	}
	return t.Object.In("status", "state")
}

// ContextPlace returns the place of the context id.
func (t *TaskObservation) ContextPlace() Place { return t.Object.In("contextId") }

// TaskIDPlace returns the place of the task's id in the object.
func (t *TaskObservation) TaskIDPlace() Place {
	if t.Snapshot || t.IDNamed {
		return t.Object.In("id")
	}
	return t.Object.In("taskId")
}

// Moment returns when the object was delivered.
func (t *TaskObservation) Moment() Moment { return Moment{t.Arrival, t.At} }

// After reports whether an observation in exchange x is certainly newer than an earlier one: it came later in one
// stream, or in an exchange that began after the other was delivered. A late observation counts as newer, since it is
// only compared where order does not matter. The tasks of a list have no age.
func (t *TaskObservation) After(earlier *TaskObservation, x *Exchange) bool {
	return t.Late || t.Event && t.Exchange == earlier.Exchange || x.BeganAfter(earlier.Moment())
}

// ShownTo reports whether the task was shown to the client of the exchange, with the same credentials.
func (t *TaskObservation) ShownTo(x *Exchange) bool { return t.Viewer == x.Viewer() }
