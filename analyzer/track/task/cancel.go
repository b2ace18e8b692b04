package task

import (
	"bytes"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// maxMetadata bounds the members of a cancellation's metadata that are looked for.
const maxMetadata = 8

// CancelOf returns the cancellation of a CancelSettled. Observation.Task is the end of its task; nil if no end was
// seen.
func CancelOf(p *analysis.Pass) *Cancel { return p.Detail.(*Cancel) }

// newCancel returns the cancellation that succeeded according to an answer.
func newCancel(o *analysis.Observation, before *analysis.TaskObservation) *Cancel {
	x := o.Exchange
	c := &Cancel{Place: x.RequestPlace().Body(), Before: before, Answer: o.Task, exchange: x.Keep()}
	for name, value := range x.Call.Params.Get("metadata").Pairs() {
		if len(c.Lost) == maxMetadata {
			break
		}
		if isForTask(name.Text()) && !value.IsNull() {
			c.Lost = append(c.Lost, name.Text())
			c.values = append(c.values, bytes.Clone(value.Raw()))
		}
	}
	c.Told = len(c.Lost) > 0
	c.find(o)
	return c
}

// isForTask reports whether a member of a request's metadata is about the task, and not for an extension or for
// tracing.
func isForTask(name string) bool {
	switch strings.ToLower(name) {
	case "", "traceparent", "tracestate", "baggage":
		return false
	}
	return !strings.ContainsAny(name, ":/")
}

// follow records a later observation of the task.
func (c *Cancel) follow(o *analysis.Observation) {
	if o.Task.State.Known() && !o.Task.Late && o.Task.After(c.Answer, o.Exchange) {
		c.After = o.Task
	}
	c.find(o)
}

// find drops the members of the metadata that an answer or event about the task shows: by name, or by a text. If the
// task's metadata is not an object, it cannot have them, and all of them are dropped.
func (c *Cancel) find(o *analysis.Observation) {
	if len(c.Lost) == 0 || o.Doc == nil {
		return
	}
	if o.Answer != nil && o.Answer.Payload.Kind == a2a.TaskPayload {
		switch o.Answer.Payload.Value.Get("metadata").Kind() {
		case a2a.Absent, a2a.Null, a2a.Object:
		default:
			c.Lost, c.values = nil, nil
			return
		}
	}
	shown := o.Doc.Root.Raw()
	n := 0
	for i, name := range c.Lost {
		value := c.values[i]
		if bytes.Contains(shown, []byte(`"`+name+`"`)) || len(value) > 4 && value[0] == '"' && bytes.Contains(shown, value) {
			continue
		}
		c.Lost[n], c.values[n] = name, value
		n++
	}
	c.Lost, c.values = c.Lost[:n], c.values[:n]
}

// settle observes, at the end of a capture, the cancellations that succeeded. Nothing is observed if their effects may
// be missing from the record.
func (m *Memory) settle(p *analysis.Pass) {
	if p.RequestMissed() || p.Lost() > 0 {
		return
	}
	lost := make(map[string]bool) // by origin
	for _, t := range m.tasks.All() {
		if _, told := m.strange.Get(t.ID); told {
			continue
		}
		if c := t.accepted; c != nil {
			if len(c.Lost) > 0 {
				c.Again, lost[c.exchange.Origin] = lost[c.exchange.Origin], true
			}
			p.Observe(analysis.Observation{
				Kind: analysis.CancelSettled, Exchange: c.exchange.Exchange(), Dialects: c.exchange.Dialects,
				Place: c.Answer.StatePlace(), Detail: c, Task: t.Terminal, At: p.At,
			})
		}
	}
}

// takeCancel records an observation of a task if it concerns the task's cancellation; before is the task's previous
// observation.
func (t *Task) takeCancel(o *analysis.Observation, before *analysis.TaskObservation) {
	switch {
	case o.Exchange.Call.Operation == a2a.CancelTask && o.Task.Snapshot && !o.Task.Event:
		if t.Terminal == nil || t.Terminal == o.Task {
			t.accepted = newCancel(o, before)
		}
	case t.accepted != nil:
		t.accepted.follow(o)
	}
}
