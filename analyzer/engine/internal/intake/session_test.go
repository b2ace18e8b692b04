package intake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// Over the older HTTP with SSE, the result of a request comes on the stream of another exchange, before or after the
// request was accepted.
func TestSessions(t *testing.T) {
	const (
		tool  = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"weather"}}`
		fails = `{"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"no such city"}]}}`
	)
	for name, c := range map[string]struct {
		endpoint string
		script   string // what happens, in order of time
		want     string
	}{
		"after it was accepted":  {"/messages?s=1", "open 2|close 2|result 2", "tools/call weather failed: no such city 4ms"},
		"before it was accepted": {"messages?s=1", "open 2|result 2|close 2", "tools/call weather failed: no such city 4ms"},
		"an absolute address":    {"http://Tool:1/messages?s=1", "open 2|close 2|result 2", "tools/call weather failed: no such city 4ms"},
		"another session":        {"/messages?s=2", "open 2|close 2|result 2", "tools/call weather 3ms"},
		"another id":             {"/messages?s=1", "open 3|close 3|result 2|end", "tools/call weather 3ms"},
		"of another server":      {"http://tool:1/messages?s=1", "open 2|close 2|result 2", "tools/call weather 3ms"},
		"no result":              {"/messages?s=1", "open 2|close 2|end", "tools/call weather 3ms"},
		"the recording ends":     {"/messages?s=1", "open 2|close 2", "tools/call weather 3ms"},
	} {
		t.Run(name, func(t *testing.T) {
			var ended []summary.Summary
			e := engine.New(rules.All, engine.OnEnded(func(s summary.Summary) { ended = append(ended, s) }))
			started, now := time.Unix(1767225600, 0).UTC(), time.Duration(0)
			step := func(n uint64, began time.Duration, list ...capture.What) {
				for _, what := range list {
					if opened, ok := what.(capture.Opened); ok {
						opened.ID, opened.Started, opened.Agent = uuid.New(), started.Add(began), capture.Peer{Name: "tool", URL: "http://tool:1"}
						if n == 1 && name == "of another server" {
							opened.Agent = capture.Peer{Name: "other", URL: "http://other:1"}
						}
						what = opened
					}
					e.Step(capture.Step{Seq: n, Offset: now - began, What: what})
				}
			}
			event := func(text string) capture.What {
				return capture.ResponseEvent{Event: capture.Event{K: 2, Raw: []byte(text)}}
			}
			step(1, 0, capture.Opened{Head: []byte("GET /sse HTTP/1.1\r\nHost: tool:1\r\nAccept: text/event-stream\r\n\r\n")}, capture.RequestEnd{},
				capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true},
				event("event: endpoint\ndata: "+c.endpoint+"\n\n"))
			var began time.Duration
			for _, does := range strings.Split(c.script, "|") {
				now += time.Millisecond
				switch what, id, _ := strings.Cut(does, " "); what {
				case "open":
					began = now
					body := fmt.Sprintf(tool, id)
					step(2, began, capture.Opened{Head: []byte("POST /messages?s=1 HTTP/1.1\r\nHost: tool:1\r\nContent-Type: application/json\r\n\r\n")},
						capture.RequestBody{Data: []byte(body)}, capture.RequestEnd{Size: int64(len(body))})
					now += 2 * time.Millisecond
				case "close":
					step(2, began, capture.ResponseHead{Head: []byte("HTTP/1.1 202 Accepted\r\n\r\n")}, capture.ResponseEnd{}, capture.Closed{})
				case "result":
					step(1, 0, event("event: message\ndata: "+fails+"\n\n"))
				case "end":
					step(1, 0, capture.ResponseEnd{Size: capture.NotKnown}, capture.Closed{})
				}
			}
			if found := e.End(false); len(found) > 0 {
				t.Errorf("%d findings", len(found))
			}
			var call, stream *summary.Summary
			for i := range ended {
				if ended[i].Seq == 2 {
					call = &ended[i]
				} else {
					stream = &ended[i]
				}
			}
			expect.Equal(t, "call", c.want, strings.Join(strings.Fields(call.Asked+" "+call.OutcomeText()+" "+call.Took.String()), " "))
			expect.Equal(t, "the call failed", strings.Contains(c.want, "failed"), call.Failed())
			if strings.Contains(c.want, "failed") {
				expect.Equal(t, "the stream failed", false, stream.Failed())
			}
			expect.Equal(t, "exchanges", 2, len(ended))
		})
	}
}
