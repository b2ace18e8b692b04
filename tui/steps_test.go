package tui

import (
	"fmt"
	"testing"
	"time"

	"a2atap/proxy/capture"
)

// call returns the steps of a call that asks for a task and gets it in a state.
func call(seq uint64, task, state string) []capture.Step {
	return append(asked(seq,
		"POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n\r\n",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"GetTask","params":{"id":%q}}`, seq, task)),
		answered(seq, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"id":%q,"contextId":"c","status":{"state":%q}}}`, seq,
			task, state))...)
}

func asked(seq uint64, head, body string) []capture.Step {
	return []capture.Step{
		{Seq: seq, What: capture.Opened{
			Started: dawn.Add(time.Duration(seq) * time.Second), Head: []byte(head),
			Client: capture.Peer{Name: "traveller"}, Agent: capture.Peer{Name: "booker", URL: "http://booker.example/a2a"},
		}},
		{Seq: seq, What: capture.RequestBody{Data: []byte(body)}},
		{Seq: seq, What: capture.RequestEnd{Size: int64(len(body))}},
	}
}

func answered(seq uint64, body string) []capture.Step {
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

// subscribed returns the steps of a stream that is open.
func subscribed(seq uint64, task string) []capture.Step {
	return append(asked(seq,
		"POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n\r\n",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SubscribeToTask","params":{"id":%q}}`, seq, task)),
		capture.Step{Seq: seq, Offset: time.Millisecond, What: capture.ResponseHead{
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true,
		}})
}

func status(seq uint64, k int, task, state string) capture.Step {
	at := time.Duration(k) * 10 * time.Millisecond
	return capture.Step{
		Seq: seq, Offset: at,
		What: capture.ResponseEvent{Event: capture.Event{K: k, At: at, Raw: fmt.Appendf(nil,
			"data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"statusUpdate\":{\"taskId\":%q,\"contextId\":\"c\",\"status\":{\"state\":%q}}}}\n\n", seq, task, state)}},
	}
}

// task is an event that holds the whole task, as the first one of a subscription does.
func task(seq uint64, k int, id, state string) capture.Step {
	at := time.Duration(k) * 10 * time.Millisecond
	return capture.Step{
		Seq: seq, Offset: at,
		What: capture.ResponseEvent{Event: capture.Event{K: k, At: at, Raw: fmt.Appendf(nil,
			"data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"task\":{\"id\":%q,\"contextId\":\"c\",\"status\":{\"state\":%q}}}}\n\n", seq, id, state)}},
	}
}

// growing returns a capture that is being recorded, with some calls in it.
func growing(t *testing.T, calls int) *capture.Memory {
	t.Helper()
	m := capture.NewMemory(capture.Info{Name: "live.a2atap"})
	for i := range uint64(calls) {
		record(t, m, call(i+1, fmt.Sprintf("t-%d", i+1), "TASK_STATE_COMPLETED"))
	}
	return m
}

func record(t *testing.T, m *capture.Memory, steps []capture.Step) {
	t.Helper()
	if err := m.Append(steps...); err != nil {
		t.Fatal(err)
	}
}
