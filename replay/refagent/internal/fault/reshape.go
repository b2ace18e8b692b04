package fault

import (
	"fmt"
	"slices"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// onShape makes hooks that edit the matching objects in answers and events: of the given operations, or of all.
func onShape(fits func(o jsonvalue.Object) bool, edit editor,
	ops ...model.Operation,
) func() wire.Hooks {
	meant := func(c *wire.Call) bool { return isResult(c) && (len(ops) == 0 || slices.Contains(ops, c.Op)) }
	h := onFrame(func(c *wire.Call, f *wire.Frame) {
		if meant(c) {
			f.Body = reshape(f.Body, fits, edit)
		}
	})()
	h.Answer = onAnswer(meant, func(_ *wire.Call, out *wire.Answer) { out.Body = reshape(out.Body, fits, edit) })().Answer
	return always(h)
}

// reshape edits the fitting objects in a JSON tree, inner ones first, and skips free-form values such as metadata.
func reshape(v any, fits func(o jsonvalue.Object) bool, edit editor) any {
	switch v := v.(type) {
	case []any:
		return jsonvalue.Values(v, func(e any) any { return reshape(e, fits, edit) })
	case jsonvalue.Object:
		o := slices.Clone(v)
		for i := range o {
			if name := o[i].Name; name != "metadata" && name != "data" && name != "error" {
				o[i].Value = reshape(o[i].Value, fits, edit)
			}
		}
		if fits(o) {
			return edit(o)
		}
		return o
	}
	return v
}

func with(name string, value any) editor {
	return func(o jsonvalue.Object) jsonvalue.Object { return o.With(name, value) }
}

func without(name string) editor {
	return func(o jsonvalue.Object) jsonvalue.Object { return o.Without(name) }
}

// The types of the protocol's objects, by their members.

func is(o jsonvalue.Object, name, value string) bool {
	v, _ := o.Get(name)
	return v == value
}

// isMessage reports whether an object is a message of the agent.
func isMessage(o jsonvalue.Object) bool { return is(o, "role", "ROLE_AGENT") || is(o, "role", "agent") }

func isPart(o jsonvalue.Object) bool {
	return o.Has("kind") && (o.Has("text") || o.Has("file") || o.Has("data")) ||
		o.Has("type") && !o.Has("kind") && !o.Has("@type") ||
		o.Has("text") || o.Has("raw") || o.Has("data") && !o.Has("code")
}

func isFile(o jsonvalue.Object) bool   { return o.Has("raw") || o.Has("bytes") || o.Has("fileWithBytes") }
func isStatus(o jsonvalue.Object) bool { return o.Has("state") }
func isTask(o jsonvalue.Object) bool   { return o.Has("status") && o.Has("id") && !o.Has("final") }

func isArtifact(o jsonvalue.Object) bool {
	return o.Has("parts") && (o.Has("artifactId") || o.Has("index"))
}

func isStatusUpdate(o jsonvalue.Object) bool {
	return o.Has("status") && (o.Has("taskId") || o.Has("final"))
}
func isArtifactUpdate(o jsonvalue.Object) bool { return o.Has("artifact") }

// isWrapper reports whether an object wraps the result of a send.
func isWrapper(o jsonvalue.Object) bool {
	return o.Has("task") || o.Has("message") && !o.Has("state") && !o.Has("code") || o.Has("statusUpdate") ||
		o.Has("artifactUpdate")
}

// inline, referTo and mediaType edit a file: in 1.0 a part, in earlier versions an object in a part.

func inline(text string) editor {
	return func(o jsonvalue.Object) jsonvalue.Object {
		if o.Has("raw") {
			return o.With("raw", text)
		}
		return o.With("bytes", text)
	}
}

func referTo(url string) editor {
	return func(o jsonvalue.Object) jsonvalue.Object {
		switch {
		case o.Has("raw"):
			return o.Without("raw").With("url", url)
		case o.Has("fileWithBytes"):
			return o.Without("fileWithBytes").With("fileWithUri", url)
		}
		return o.Without("bytes").With("uri", url)
	}
}

func mediaType(text string) editor {
	return func(o jsonvalue.Object) jsonvalue.Object {
		if o.Has("raw") {
			return o.With("mediaType", text)
		}
		return o.With("mimeType", text)
	}
}

// repeatArtifact shows the first artifact of a task twice.
func repeatArtifact(o jsonvalue.Object) jsonvalue.Object {
	if artifacts, _ := o.Get("artifacts"); artifacts != nil {
		list := artifacts.([]any)
		return o.With("artifacts", append(slices.Clone(list), list[0]))
	}
	return o
}

// resultAsMessage shows the first artifact of a completed task as its status message.
func resultAsMessage(o jsonvalue.Object) jsonvalue.Object {
	artifacts, _ := o.Get("artifacts")
	value, _ := o.Get("status")
	if artifacts == nil ||
		!is(value.(jsonvalue.Object), "state", "TASK_STATE_COMPLETED") &&
			!is(value.(jsonvalue.Object), "state", "completed") {
		return o
	}
	parts, _ := artifacts.([]any)[0].(jsonvalue.Object).Get("parts")
	message := jsonvalue.Object{{"messageId", "result"}, {"role", "ROLE_AGENT"}, {"parts", parts}}
	if o.Has("kind") {
		message = jsonvalue.Object{{"kind", "message"}, {"messageId", "result"}, {"role", "agent"}, {"parts", parts}}
	}
	return o.Without("artifacts").With("status", value.(jsonvalue.Object).With("message", message))
}

// stateless removes the state from a status whose state is working.
func stateless(o jsonvalue.Object) jsonvalue.Object {
	if is(o, "state", "TASK_STATE_WORKING") || is(o, "state", "working") {
		return o.Without("state")
	}
	return o
}

// wholeSeconds gives each status a timestamp of whole seconds.
func wholeSeconds(_ *wire.Call, f *wire.Frame) {
	second := 0 // the same on each stream of the task
	if u := f.Event.Status; u != nil {
		if second = 1; u.Status.State.Terminal() {
			second = 2
		}
	}
	f.Body = reshape(f.Body, isStatus, with("timestamp", fmt.Sprintf("2026-03-01T10:00:%02dZ", second)))
}
