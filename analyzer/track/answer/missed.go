package answer

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// shortly is how long ago a task was shown that should still exist.
const shortly = time.Minute

// A Missed is a call that was answered with a task-not-found error although the agent had shown the task shortly
// before. It is the detail of a TaskMissed.
type Missed struct {
	Shown *analysis.TaskObservation // the newest one before the call
	Found *Lookup                   // a call of the same client that found the task nevertheless; nil if none did

	exchange *analysis.Exchange // without its bodies
	dialects a2a.Dialects       // of the answer
	place    analysis.Place     // of the error
	over     analysis.Moment
}

// A Lookup is a call whose answer showed a task.
type Lookup struct {
	Operation a2a.Operation
	Object    analysis.Place
}

// MissedOf returns the subject of a TaskMissed.
func MissedOf(p *analysis.Pass) *Missed { return p.Detail.(*Missed) }

// ShownShortlyBefore returns the newest observation of the task that a call names. It returns nil unless the task was
// shown to the same client within a minute before the call began, and the call has to find it. Messages to,
// cancellations of and subscriptions to an ended task may be refused as not found.
func (m *Memory) ShownShortlyBefore(x *analysis.Exchange) *analysis.TaskObservation {
	t := m.tasks.Named(x)
	if t == nil || t.Last == nil {
		return nil
	}
	last := t.Last
	switch op := x.Call.Operation; {
	case op == a2a.GetTask:
	case op.Sends(), op == a2a.CancelTask, op == a2a.SubscribeToTask:
		if last.State.Terminal() {
			return nil
		}
	default:
		return nil
	}
	if !x.BeganAfter(last.Moment()) || !last.ShownTo(x) || last.At.IsZero() || x.Started.Sub(last.At) > shortly {
		return nil
	}
	return last
}

// miss records that a recently shown task is not found. If GetTask had found it and another operation does not, the
// task is known to exist.
func (m *Memory) miss(o *analysis.Observation) {
	x := o.Exchange
	last := m.ShownShortlyBefore(x)
	key := x.TaskKey(x.Call.TaskID)
	if _, known := m.missed.Get(key); last == nil || known || o.Event != nil && x.Stream.Events > 1 {
		return
	}
	missed := &Missed{
		Shown: last, exchange: x.WithoutBodies(), dialects: o.Dialects, place: o.Place.At(o.Answer.Err.Pointer),
		over: o.Moment(),
	}
	if got := m.tasks.Named(x).Got; got != nil && x.Call.Operation != a2a.GetTask {
		missed.Found = &Lookup{a2a.GetTask, got.Object}
	}
	m.missed.Put(key, missed)
}

// found records that a call has found a task that another call did not find. Events of a stream that was open before do
// not show what lookups find.
func (m *Memory) found(x *analysis.Exchange, key analysis.TaskKey, seen *analysis.TaskObservation) {
	missed, ok := m.missed.Get(key)
	if !ok || missed.Found != nil || seen.Late && x.Call.Operation == a2a.Webhook || !x.BeganAfter(missed.over) {
		return
	}
	missed.Found = &Lookup{x.Call.Operation, seen.Object}
}

// tellMissed observes the tasks that were not found, at the end of a capture.
func (m *Memory) tellMissed(p *analysis.Pass) {
	for _, missed := range m.missed.All() {
		p.Observe(analysis.Observation{
			Kind: analysis.TaskMissed, Exchange: missed.exchange, Dialects: missed.dialects, Place: missed.place, Detail: missed,
		})
	}
}
