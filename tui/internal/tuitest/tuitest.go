// Package tuitest makes recordings for tests of the inspector: steps of calls, streams and growing captures. It is for
// tests only.
package tuitest

import (
	"fmt"
	"testing"
	"time"

	"a2atap/proxy/capture"
)

// Call returns the steps of a call that requests a task and receives it in a state.
func Call(seq uint64, task, state string) []capture.Step {
	return append(Asked(seq,
		"POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n\r\n",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"GetTask","params":{"id":%q}}`, seq, task)),
		Answered(seq, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"id":%q,"contextId":"c","status":{"state":%q}}}`, seq,
			task, state))...)
}

// Asked returns the steps of a request.
func Asked(seq uint64, head, body string) []capture.Step {
	return []capture.Step{
		{Seq: seq, What: capture.Opened{
			Started: Dawn.Add(time.Duration(seq) * time.Second), Head: []byte(head),
			Client: capture.Peer{Name: "traveller"}, Agent: capture.Peer{Name: "booker", URL: "http://booker.example/a2a"},
		}},
		{Seq: seq, What: capture.RequestBody{Data: []byte(body)}},
		{Seq: seq, What: capture.RequestEnd{Size: int64(len(body))}},
	}
}

// Answered returns the steps of a response that ends its exchange.
func Answered(seq uint64, body string) []capture.Step {
	return []capture.Step{
		{
			Seq: seq, Offset: time.Millisecond,
			What: capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
		},
		{Seq: seq, Offset: time.Millisecond, What: capture.ResponseBody{Data: []byte(body)}},
		{Seq: seq, Offset: time.Millisecond, What: capture.ResponseEnd{Size: int64(len(body))}},
		{Seq: seq, Offset: time.Millisecond, What: capture.Closed{}},
	}
}

// Subscribed returns the steps of an open stream.
func Subscribed(seq uint64, task string) []capture.Step {
	return append(Asked(seq,
		"POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n\r\n",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SubscribeToTask","params":{"id":%q}}`, seq, task)),
		capture.Step{Seq: seq, Offset: time.Millisecond, What: capture.ResponseHead{
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true,
		}})
}

// Status returns the k-th event of a stream, which reports a state of a task.
func Status(seq uint64, k int, task, state string) capture.Step {
	at := time.Duration(k) * 10 * time.Millisecond
	return capture.Step{
		Seq: seq, Offset: at,
		What: capture.ResponseEvent{Event: capture.Event{K: k, At: at, Raw: fmt.Appendf(nil,
			"data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"statusUpdate\":{\"taskId\":%q,\"contextId\":\"c\",\"status\":{\"state\":%q}}}}\n\n", seq, task, state)}},
	}
}

// Task returns an event with the whole task, like the first one of a subscription.
func Task(seq uint64, k int, id, state string) capture.Step {
	at := time.Duration(k) * 10 * time.Millisecond
	return capture.Step{
		Seq: seq, Offset: at,
		What: capture.ResponseEvent{Event: capture.Event{K: k, At: at, Raw: fmt.Appendf(nil,
			"data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"task\":{\"id\":%q,\"contextId\":\"c\",\"status\":{\"state\":%q}}}}\n\n", seq, id, state)}},
	}
}

// Growing returns a capture that is being recorded, with some calls in it.
func Growing(t *testing.T, calls int) *capture.Memory {
	t.Helper()
	m := capture.NewMemory(capture.Info{Name: "live.a2atap"})
	for i := range uint64(calls) {
		Record(t, m, Call(i+1, fmt.Sprintf("t-%d", i+1), "TASK_STATE_COMPLETED"))
	}
	return m
}

// Record appends steps to a capture.
func Record(t *testing.T, m *capture.Memory, steps []capture.Step) {
	t.Helper()
	if err := m.Append(steps...); err != nil {
		t.Fatal(err)
	}
}

// Says returns a status event with a text.
func Says(seq uint64, k int, words string) capture.Step {
	step := Status(seq, k, "t-1", "TASK_STATE_WORKING")
	what := step.What.(capture.ResponseEvent)
	what.Event.Raw = fmt.Appendf(nil, "data: {\"result\":{\"statusUpdate\":{\"note\":\"%s\"}}}\n\n", words)
	step.What = what
	return step
}

// Talk returns a stream of this many events, some of which have texts.
func Talk(t *testing.T, events int, words map[int]string) *capture.Memory {
	t.Helper()
	m := capture.NewMemory(capture.Info{Name: "talk.a2atap"})
	steps := Subscribed(1, "t-1")
	for k := 1; k <= events; k++ {
		if said, does := words[k]; does {
			steps = append(steps, Says(1, k, said))
		} else {
			steps = append(steps, Status(1, k, "t-1", "TASK_STATE_WORKING"))
		}
	}
	Record(t, m, steps)
	return m
}

// Dawn is the start time of recordings.
var Dawn = time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)

// Long returns a capture with one stream of very many events.
func Long(tb testing.TB, events int) *capture.Memory {
	tb.Helper()
	m := capture.NewMemory(capture.Info{Name: "long.a2atap"})
	steps := Subscribed(1, "t-1")
	for k := range events {
		steps = append(steps, Status(1, k+1, "t-1", "TASK_STATE_WORKING"))
	}
	if err := m.Append(steps...); err != nil {
		tb.Fatal(err)
	}
	return m
}
