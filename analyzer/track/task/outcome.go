package task

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// outcomeOf returns a payload's content for the task with that id, if fits accepts the task's state.
func outcomeOf(p *a2a.Payload, id string, fits func(a2a.State) bool) (out outcome, ok bool) {
	var status a2a.Status
	switch p.Kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: p.Value}
		if t.ID() != id {
			return out, false
		}
		status, out.artifacts = t.Status(), digest.Empty.JSON(t.Get("artifacts"), "")
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: p.Value}
		if u.TaskID() != id {
			return out, false
		}
		status = u.Status()
	}
	if !fits(status.State()) {
		return out, false
	}
	out.status, out.stamped = digest.Empty.JSON(status.Value, ""), status.Get("timestamp").Text() != ""
	return out, true
}

// Unchanged reports whether an answer or event shows the task as it was when it had ended: the same status and
// artifacts, or only the same status if it has a timestamp and one of the two shows no more.
func (t *Task) Unchanged(p *a2a.Payload) bool {
	now, ok := outcomeOf(p, t.ID, a2a.State.Terminal)
	if !ok || now.status != t.outcome.status {
		return false
	}
	if now.artifacts == 0 || t.outcome.artifacts == 0 {
		return now.stamped
	}
	return now.artifacts == t.outcome.artifacts
}

// takeEnd remembers the outcome of a task that a message may reopen, when its end is seen first.
func (t *Task) takeEnd(o *analysis.Observation) {
	if t.Terminal == o.Task && o.Answer != nil && !o.Dialects.Has(a2a.V1_0) {
		t.outcome, _ = outcomeOf(&o.Answer.Payload, t.ID, a2a.State.Terminal)
	}
}

// StillWaits reports whether an answer shows the task waiting for input with the status that it had when it was last
// seen, by its timestamp too.
func (t *Task) StillWaits(p *a2a.Payload) bool {
	now, ok := outcomeOf(p, t.ID, waitsForInput)
	return ok && now.stamped && now.status == t.question.status
}

// takeQuestion remembers the status of a task that waits for input.
func (t *Task) takeQuestion(o *analysis.Observation) {
	if t.Last == o.Task && o.Answer != nil && waitsForInput(o.Task.State) {
		t.question, _ = outcomeOf(&o.Answer.Payload, t.ID, waitsForInput)
	}
}

func waitsForInput(s a2a.State) bool { return s == a2a.InputRequired }
