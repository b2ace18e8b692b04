package task

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// An outcome is what was shown of a task at its end, to be compared with a later look. The zero outcome is not known.
type outcome struct {
	status    digest.Digest
	artifacts digest.Digest // 0 if an update showed the end
	stamped   bool          // the status says when it was recorded
}

// outcomeOf returns what a payload shows of the end of the task with that id.
func outcomeOf(p *a2a.Payload, id string) (out outcome, ok bool) {
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
	if !status.State().Terminal() {
		return out, false
	}
	out.status, out.stamped = digest.Empty.JSON(status.Value, ""), status.Get("timestamp").Text() != ""
	return out, true
}

// Unchanged reports whether an answer or event shows the task as it was when it had ended: its status and its artifacts,
// or the status alone if that has a timestamp and one of the two shows no more.
func (t *Task) Unchanged(p *a2a.Payload) bool {
	now, ok := outcomeOf(p, t.ID)
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
		t.outcome, _ = outcomeOf(&o.Answer.Payload, t.ID)
	}
}
