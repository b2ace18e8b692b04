package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay/diff"
	"a2atap/replay/report"
)

// Two exchanges are compared as a2atap diff compares them: first what differs, then line by line.
func TestDiffOfExchanges(t *testing.T) {
	src := twoRuns(t, func(x *capture.Exchange) {
		x.Response.Events[len(x.Response.Events)-1].Raw = []byte(strings.Replace(
			string(x.Response.Events[len(x.Response.Events)-1].Raw), "completed", "failed", 1))
	})
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, src, 120, 40, Options{})
		u.press("g", "D")
		u.sees("D on another one compares it with 1; D on 1 again cancels")
		u.press("D")
		u.sees("1 is not compared")
		u.press("D", "j", "D")
		u.sees("diff of 1 and 2")
		want, err := diff.Run(context.Background(), src, src, diff.Options{
			Rules:   rules.All,
			KeepWas: func(x *capture.Exchange) bool { return x.Seq == 1 },
			KeepNow: func(x *capture.Exchange) bool { return x.Seq == 2 },
			Sides:   report.Sides{Was: "exchange 1", Now: "exchange 2", Each: report.OneExchange},
		})
		must.Do(t, err)
		u.sees(want.Verdict())
		var text strings.Builder
		must.Do(t, report.Text(&text, want))
		for words := range strings.Lines(text.String()) {
			u.sees(strings.TrimSpace(words))
		}
		u.press("tab")
		u.sees("lines that differ", `≠`, `"state": "failed"`, "equal lines")
		u.hides("task-1")
		u.press("tab")
		u.sees("all lines", "→ POST /")
		u.press("n")
		u.sees(`"state": "failed"`)
		u.send(sizeOf(80, 24))
		u.press("g", "n")
		u.sees(`+ `)
		u.press("esc")
		u.sees("exchanges")
	})
}

// Exchanges that differ in nothing but their ids are equal, and the only marked one is compared without being chosen.
func TestDiffOfEqualExchanges(t *testing.T) {
	src := twoRuns(t, func(*capture.Exchange) {})
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, src, 120, 40, Options{})
		u.press("g", "x", "j", "D")
		u.sees("diff of 1 and 2", "no difference")
		u.press("tab")
		u.sees("no line differs, except for ids and times")
		u.press("q", "l", "D")
		u.sees("D on another one compares it with the task of 2")
		u.press("q", "g", "l", "D")
		u.sees("diff of the task of 2 and the task of 1", "no difference")
	})
}

// twoRuns is one streamed send, and the same again with other ids and whatever change makes of it.
func twoRuns(t *testing.T, change func(*capture.Exchange)) *capture.Memory {
	t.Helper()
	var list []*capture.Exchange
	for n, ids := range []*strings.Replacer{
		strings.NewReplacer(), strings.NewReplacer("task-1", "task-2", "ctx-1", "ctx-2", "msg-1", "msg-2"),
	} {
		x := streamed(ids)
		x.Seq = uint64(n + 1)
		x.ID[0] = byte(n + 1)
		if n == 1 {
			change(x)
		}
		list = append(list, x)
	}
	return recorded(t, "runs.txtar", list)
}

// streamed is a SendStreamingMessage whose task completes.
func streamed(ids *strings.Replacer) *capture.Exchange {
	event := func(k int, state string) capture.Event {
		return capture.Event{K: k, At: capture.NotKnown, Raw: []byte(ids.Replace(
			`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"task-1","contextId":"ctx-1",`+
				`"status":{"state":"`+state+`"},"final":`+map[bool]string{true: "true", false: "false"}[state == "completed"]+
				`}}`) + "\n\n")}
	}
	body := ids.Replace(`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message",` +
		`"messageId":"msg-1","role":"user","parts":[{"kind":"text","text":"two seats"}]}}}`)
	return &capture.Exchange{
		State: capture.StateClosed, Client: capture.Peer{Name: "planner"},
		Agent: capture.Peer{Name: "booker", URL: "http://127.0.0.1:9001"},
		Request: capture.Request{
			Head: []byte("POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nContent-Type: application/json\r\n\r\n"),
			Body: capture.Body{Data: []byte(body), Size: int64(len(body)), Complete: true},
		},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true,
			Body:   capture.Body{Complete: true, Size: capture.NotKnown},
			Events: []capture.Event{event(1, "submitted"), event(2, "working"), event(3, "completed")},
		},
	}
}
