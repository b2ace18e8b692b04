package refagent

import (
	"fmt"
	"slices"
)

// onShape makes hooks that edit the fitting objects in answers and events: of the operations, or of all if none is
// given.
func onShape(fits func(o object) bool, edit func(o object) object, ops ...operation) func() hooks {
	return func() hooks {
		meant := func(c *call) bool { return c.failure == nil && (len(ops) == 0 || slices.Contains(ops, c.op)) }
		return hooks{
			answer: func(c *call, out *answer) {
				if !out.stream && meant(c) {
					out.body = reshape(out.body, fits, edit)
				}
			},
			events: func(c *call) func(f *frame) []*frame {
				return func(f *frame) []*frame {
					if meant(c) {
						f.body = reshape(f.body, fits, edit)
					}
					return []*frame{f}
				}
			},
		}
	}
}

// reshape edits the fitting objects in a JSON tree, inner ones first, and leaves free what the protocol leaves free.
func reshape(v any, fits func(o object) bool, edit func(o object) object) any {
	switch v := v.(type) {
	case []any:
		return values(v, func(e any) any { return reshape(e, fits, edit) })
	case object:
		o := slices.Clone(v)
		for i := range o {
			if name := o[i].name; name != "metadata" && name != "data" && name != "error" {
				o[i].value = reshape(o[i].value, fits, edit)
			}
		}
		if fits(o) {
			return edit(o)
		}
		return o
	}
	return v
}

func with(name string, value any) func(o object) object {
	return func(o object) object { return o.with(name, value) }
}

func without(name string) func(o object) object {
	return func(o object) object { return o.without(name) }
}

// What an object of the protocol is, by its members.

func has(o object, name string) bool {
	_, found := o.get(name)
	return found
}

func is(o object, name, value string) bool {
	v, _ := o.get(name)
	return v == value
}

// isMessage reports whether an object is a message of the agent.
func isMessage(o object) bool { return is(o, "role", "ROLE_AGENT") || is(o, "role", "agent") }

func isPart(o object) bool {
	return has(o, "kind") && (has(o, "text") || has(o, "file") || has(o, "data")) ||
		has(o, "type") && !has(o, "kind") && !has(o, "@type") ||
		has(o, "text") || has(o, "raw") || has(o, "data") && !has(o, "code")
}

func isFile(o object) bool   { return has(o, "raw") || has(o, "bytes") }
func isStatus(o object) bool { return has(o, "state") }
func isTask(o object) bool   { return has(o, "status") && has(o, "id") && !has(o, "final") }

func isArtifact(o object) bool {
	return has(o, "parts") && (has(o, "artifactId") || has(o, "index"))
}

func isStatusUpdate(o object) bool   { return has(o, "status") && (has(o, "taskId") || has(o, "final")) }
func isArtifactUpdate(o object) bool { return has(o, "artifact") }

// isWrapper reports whether an object stands around one that a message is answered with.
func isWrapper(o object) bool {
	return has(o, "task") || has(o, "message") && !has(o, "state") && !has(o, "code") || has(o, "statusUpdate") ||
		has(o, "artifactUpdate")
}

// inline, referTo and mediaType edit a file: in 1.0 it is a part, before it is an object in one.

func inline(text string) func(o object) object {
	return func(o object) object {
		if has(o, "raw") {
			return o.with("raw", text)
		}
		return o.with("bytes", text)
	}
}

func referTo(url string) func(o object) object {
	return func(o object) object {
		if has(o, "raw") {
			return o.without("raw").with("url", url)
		}
		return o.without("bytes").with("uri", url)
	}
}

func mediaType(text string) func(o object) object {
	return func(o object) object {
		if has(o, "raw") {
			return o.with("mediaType", text)
		}
		return o.with("mimeType", text)
	}
}

// repeatArtifact shows the first artifact of a task twice.
func repeatArtifact(o object) object {
	if artifacts, _ := o.get("artifacts"); artifacts != nil {
		list := artifacts.([]any)
		return o.with("artifacts", append(slices.Clone(list), list[0]))
	}
	return o
}

// resultAsMessage shows the first artifact of a completed task as its status message.
func resultAsMessage(o object) object {
	artifacts, _ := o.get("artifacts")
	value, _ := o.get("status")
	if artifacts == nil ||
		!is(value.(object), "state", "TASK_STATE_COMPLETED") && !is(value.(object), "state", "completed") {
		return o
	}
	parts, _ := artifacts.([]any)[0].(object).get("parts")
	message := object{{"messageId", "result"}, {"role", "ROLE_AGENT"}, {"parts", parts}}
	if has(o, "kind") {
		message = object{{"kind", "message"}, {"messageId", "result"}, {"role", "agent"}, {"parts", parts}}
	}
	return o.without("artifacts").with("status", value.(object).with("message", message))
}

// stateless takes the state out of a status that says that the task is working.
func stateless(o object) object {
	if is(o, "state", "TASK_STATE_WORKING") || is(o, "state", "working") {
		return o.without("state")
	}
	return o
}

// wholeSeconds gives each status a timestamp of whole seconds.
func wholeSeconds(_ *call, _ int, f *frame) []*frame {
	second := 0 // the same on each stream of the task
	if u := f.event.status; u != nil {
		if second = 1; u.status.state.terminal() {
			second = 2
		}
	}
	f.body = reshape(f.body, isStatus, with("timestamp", fmt.Sprintf("2026-03-01T10:00:%02dZ", second)))
	return []*frame{f}
}
