package acceptance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"mime"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// A want is a condition on a value.
type want func(a2a.Value) error

// holds checks conditions on a value, and returns the first failure.
func holds(v a2a.Value, wants ...want) error {
	for _, w := range wants {
		if err := w(v); err != nil {
			return err
		}
	}
	return nil
}

// at makes a condition on the value at a JSON Pointer below the given value.
func at(pointer, expected string, ok func(a2a.Value) bool) want {
	return func(v a2a.Value) error {
		found, place := v.At(pointer), v.Pointer()+pointer
		if ok(found) {
			return nil
		}
		if !found.Exists() {
			return probe.Fail(expected+" at "+place, "nothing")
		}
		return probe.Fail(expected+" at "+place, "%s", probe.Excerpt(found.Raw()))
	}
}

func missing(v a2a.Value) bool { return !v.Exists() || v.IsNull() }

func has(pointer string) want {
	return at(pointer, "something", func(v a2a.Value) bool { return !missing(v) })
}

func lacks(pointer string) want { return at(pointer, "nothing", missing) }

func is(pointer, text string) want {
	return at(pointer, fmt.Sprintf("%q", text), func(v a2a.Value) bool { return v.Is(text) })
}

func oneOf(pointer string, texts ...string) want {
	return at(pointer, strings.Join(texts, " or "), func(v a2a.Value) bool {
		return slices.ContainsFunc(texts, v.Is)
	})
}

func isTrue(pointer string) want {
	return at(pointer, "true", func(v a2a.Value) bool {
		b, ok := v.Bool()
		return b && ok
	})
}

func isA(pointer string, kind a2a.Kind) want {
	return at(pointer, "a value of type "+kind.String(), func(v a2a.Value) bool { return v.Kind() == kind })
}

// word requires a non-empty text.
func word(pointer string) want {
	return at(pointer, "a non-empty string", func(v a2a.Value) bool { return v.Text() != "" })
}

func contains(pointer, part string) want {
	return at(pointer, fmt.Sprintf("a string that contains %q", part), func(v a2a.Value) bool {
		return strings.Contains(v.Text(), part)
	})
}

func atLeast(pointer string, n int) want {
	return at(pointer, fmt.Sprintf("a list of at least %d", n), func(v a2a.Value) bool {
		return v.Kind() == a2a.Array && v.Len() >= n
	})
}

func exactly(pointer string, n int) want {
	return at(pointer, fmt.Sprintf("a list of %d", n), func(v a2a.Value) bool {
		return v.Kind() == a2a.Array && v.Len() == n
	})
}

// anyOf requires an element of a list that meets a condition.
func anyOf(pointer, expected string, ok func(a2a.Value) bool) want {
	return at(pointer, "a list with "+expected, func(v a2a.Value) bool { return some(v, ok) })
}

// some reports whether an element of a list meets a condition.
func some(list a2a.Value, ok func(a2a.Value) bool) bool {
	for _, e := range list.Elems() {
		if ok(e) {
			return true
		}
	}
	return false
}

// each requires the same of every element of a list.
func each(pointer string, wants ...want) want {
	return func(v a2a.Value) error {
		for _, e := range v.At(pointer).Elems() {
			if err := holds(e, wants...); err != nil {
				return err
			}
		}
		return nil
	}
}

// isJSON reports whether an answer is declared as JSON: both media types are in use (A2A 1.0 §11.1).
func isJSON(a *probe.Answer) bool {
	essence, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return err == nil && (essence == "application/json" || essence == "application/a2a+json")
}

// document returns the newest answer as it was on the wire: JSON under status 200.
func document(s *probe.Session) (a2a.Value, error) {
	a := s.Last()
	if a.Status != 200 {
		return a2a.Value{}, probe.Fail("HTTP 200", "HTTP %d, %s", a.Status, probe.Excerpt(a.Body))
	}
	if !isJSON(a) {
		return a2a.Value{}, probe.Fail("Content-Type application/json", "%q", a.Header.Get("Content-Type"))
	}
	if doc := a2a.Parse(a.Body); doc.Err != nil || doc.Root.Kind() != a2a.Object {
		return a2a.Value{}, probe.Fail("a JSON object", "%s", probe.Excerpt(a.Body))
	}
	return a.JSON(), nil
}

// result returns the result in the newest answer, without the JSON-RPC envelope.
func result(s *probe.Session) (a2a.Value, error) {
	root, err := document(s)
	if err != nil || !s.RPC() {
		return root, err
	}
	return enveloped(root)
}

// enveloped removes the JSON-RPC envelope of a result.
func enveloped(root a2a.Value) (a2a.Value, error) {
	err := holds(root, is("/jsonrpc", "2.0"), lacks("/error"), has("/result"))
	return root.Get("result"), err
}

// send sends a message and returns the result as it was on the wire, after checking the conditions.
func send(ctx context.Context, s *probe.Session, m client.Message, o client.SendOptions, wants ...want) (a2a.Value,
	error,
) {
	if _, err := s.Client.Send(ctx, m, o); err != nil {
		return a2a.Value{}, err
	}
	return resultWith(s, wants)
}

func resultWith(s *probe.Session, wants []want) (a2a.Value, error) {
	v, err := result(s)
	if err != nil {
		return v, err
	}
	return v, holds(v, wants...)
}

// get reads a task, and checks conditions on the wire.
func get(ctx context.Context, s *probe.Session, id string, history *int, wants ...want) error {
	if _, err := s.Client.Get(ctx, id, history); err != nil {
		return err
	}
	_, err := resultWith(s, append([]want{is("/id", id)}, wants...))
	return err
}

// cancel cancels a task, and checks conditions on the wire.
func cancel(ctx context.Context, s *probe.Session, id string, metadata []byte, wants ...want) error {
	if _, err := s.Client.Cancel(ctx, id, metadata); err != nil {
		return err
	}
	_, err := resultWith(s, append([]want{is("/id", id)}, wants...))
	return err
}

// task creates a task with a text, checks conditions on the wire, and returns the task's id.
func task(ctx context.Context, s *probe.Session, text string, o client.SendOptions, wants ...want) (string, error) {
	wants = append([]want{has("/task"), lacks("/message"), word("/task/id")}, wants...)
	v, err := send(ctx, s, client.Text(text), o, wants...)
	return v.At("/task/id").Text(), err
}

// completed creates a task that has ended when the answer comes, and returns its id.
func completed(ctx context.Context, s *probe.Session, text string) (string, error) {
	return task(ctx, s, text, client.SendOptions{}, is("/task/status/state", wireCompleted))
}

// followUp returns a message to a task.
func followUp(text, taskID, contextID string) client.Message {
	m := client.Text(text)
	m.TaskID, m.ContextID = taskID, contextID
	return m
}

// streamed reads a stream to its end and returns its events as they were on the wire, without the envelope of JSON-RPC.
func streamed(
	ctx context.Context, s *probe.Session, open func(context.Context) iter.Seq2[client.Event, error],
) ([]a2a.Value, error) {
	limited, stop := context.WithTimeout(ctx, s.Timeout)
	defer stop()
	events, err := s.Collect(open(limited))
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, probe.Fail("a stream that ends", "%d events and no end within %v", len(events), s.Timeout)
	}
	if err != nil {
		return nil, err
	}
	return streamedLast(s)
}

// streamedLast returns the events of the newest answer.
func streamedLast(s *probe.Session) ([]a2a.Value, error) {
	a := s.Last()
	essence, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if a.Status != 200 || essence != "text/event-stream" {
		return nil, probe.Fail("HTTP 200 with Content-Type text/event-stream", "HTTP %d, %q", a.Status, essence)
	}
	var events []a2a.Value
	for _, data := range a.Events() {
		doc := a2a.Parse(data)
		if doc.Err != nil || doc.Root.Kind() != a2a.Object {
			return nil, probe.Fail("events whose data is a JSON object", "event %d: %s", len(events)+1, probe.Excerpt(data))
		}
		v := doc.Root
		if s.RPC() {
			var err error
			if v, err = enveloped(v); err != nil {
				return nil, err
			}
		}
		events = append(events, v)
	}
	return events, nil
}

// stream sends a text and reads the resulting stream to its end.
func stream(ctx context.Context, s *probe.Session, text string) ([]a2a.Value, error) {
	return streamed(ctx, s, func(ctx context.Context) iter.Seq2[client.Event, error] {
		return s.Client.Stream(ctx, client.Text(text), client.SendOptions{})
	})
}

// stateOf returns the state that an event of 1.0 shows, or nothing.
func stateOf(event a2a.Value) string {
	if state := event.At("/task/status/state"); state.Exists() {
		return state.Text()
	}
	return event.At("/statusUpdate/status/state").Text()
}

// refused asserts that a call was refused with an A2A error: its code over JSON-RPC, one of the statuses over
// HTTP+JSON, first the status of 1.0.0 and last that of 1.0.1. A2A does not specify the HTTP status of a JSON-RPC
// error.
func refused(s *probe.Session, err error, code int, statuses ...int) error {
	switch s.Patch {
	case "1.0.0":
		statuses = statuses[:1]
	case "1.0.1":
		statuses = statuses[len(statuses)-1:]
	}
	if err := probe.Refused(err); err != nil {
		return err
	}
	e, _ := errors.AsType[*client.Error](err)
	root := a2a.Parse(e.Raw).Root
	if s.RPC() {
		if err := holds(root, is("/jsonrpc", "2.0"), lacks("/result"), isA("/error/message", a2a.String)); err != nil {
			return err
		}
		if got, ok := root.At("/error/code").Int(); !ok || got != int64(code) {
			return probe.Fail(fmt.Sprintf("error code %d", code), "%s", probe.Describe(e))
		}
		return nil
	}
	got := e.HTTPStatus
	if inStream(s.Last()) { // the agent sent the status before it knew the error
		inEvent, _ := root.At("/error/code").Int()
		got = int(inEvent)
	}
	var words []string
	for _, status := range statuses {
		if got == status {
			return nil
		}
		words = append(words, fmt.Sprintf("HTTP %d", status))
	}
	return probe.Fail(strings.Join(words, " or "), "%s", probe.Describe(e))
}

func inStream(a *probe.Answer) bool {
	essence, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return err == nil && essence == "text/event-stream"
}
