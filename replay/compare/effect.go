package compare

import (
	"cmp"

	"a2atap/proxy/a2a"
)

// effect returns the consequences of a live item instead of a recorded one. Either may be nil: the item is missing, or
// new.
func (c *Comparison) effect(rec, live *Item) Effect {
	e := Effect{Task: c.Recorded.Task}
	ended := false
	if rec != nil {
		if rec.Task != "" {
			e.Task = rec.Task
		}
		ended = terminalOrInterrupted(rec.State)
	}
	if live != nil {
		if rec == nil && live.Task != "" {
			if task, ok := c.Values.recordedFor(TaskID, "", live.Task); ok {
				e.Task = task
			}
		}
		ended = ended || terminalOrInterrupted(live.State)
	}
	e.Lasting = ended
	if rec == nil || live == nil {
		return e
	}
	other := rec.Kind != live.Kind || (rec.Err == nil) != (live.Err == nil)
	if other && rec.Err == nil {
		e.NoAnswer = rec.Event == c.Recorded.First().Event
	}
	if other {
		e.undone(c.Recorded.Call.Operation)
	}
	return e
}

// undone notes the consequences of an operation whose outcome differs from the recorded one.
func (e *Effect) undone(op a2a.Operation) {
	e.Lasting = e.Lasting || op.Sends() || op == a2a.CancelTask
	e.Configs = e.Configs || op == a2a.CreatePushConfig || op == a2a.DeletePushConfig
}

// about is the effect of a difference in a task that has no further consequences.
func (c *Comparison) about(rec Item) Effect {
	return Effect{Task: cmp.Or(rec.Task, c.Recorded.Task)}
}
