package intake_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// Data after an upgrade or inside a tunnel was not observed, and the verdict reports that.
func TestUnseenIsSaid(t *testing.T) {
	tests := []struct {
		name, request, answer string
		want                  bool
	}{
		{"upgrade", "GET /ws HTTP/1.1\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", true},
		{"upgrade of a call", enginetest.RPCHead, "HTTP/1.1 101 \r\n\r\n", true},
		{"tunnel", "CONNECT a:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", true},
		{"tunnel that was refused", "CONNECT a:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 Forbidden\r\n\r\n", false},
		{"answer", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			c.Open("planner", test.request)
			c.Add(capture.RequestEnd{}, capture.ResponseHead{Head: []byte(test.answer)}, capture.ResponseEnd{}, capture.Closed{})
			said := false
			e := engine.New(nil, engine.OnEnded(func(x summary.Summary) { said = x.Unseen }))
			for _, s := range c.Steps {
				e.Step(s)
			}
			e.End(false)
			r := &judgment.Result{Counts: e.Counts()}
			e.Observed(r)
			text := r.Verdict(analysis.Error).String()
			if said != test.want || strings.Contains(text, "an upgrade or in a tunnel on its connection was not observed") != test.want {
				t.Errorf("said %v, and %q; want %v", said, text, test.want)
			}
		})
	}
}

// A body that is not an answer of the protocol is stored in one line: only it explains why the call failed.
func TestSaidInstead(t *testing.T) {
	tests := []struct {
		name, head, body, failure, said string
	}{
		{"words", "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\n\r\n", "slow\n down", "HTTP 429", "slow down"},
		{
			"JSON of a gateway's", "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n\r\n", `{"why":"no scope"}`, "HTTP 403",
			`{"why":"no scope"}`,
		},
		{
			"null", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", `{"jsonrpc":"2.0","id":1,"result":null}`, analysis.NoProtocol,
			`{"jsonrpc":"2.0","id":1,"result":null}`,
		},
		{"a text for an error", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", `{"jsonrpc":"2.0","id":1,"error":"boom"}`, analysis.NoCode, ""},
		{"an error", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"boom"}}`, "InternalError", ""},
		{"a redirect", "HTTP/1.1 307 T\r\nLocation: https://elsewhere.example/a?key=1\r\n\r\n", "moved", "", "https://elsewhere.example/a?key=1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			c.Open("planner", enginetest.RPCHead)
			request := []byte(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`)
			c.Add(capture.RequestBody{Data: request}, capture.RequestEnd{Size: int64(len(request))},
				capture.ResponseHead{Head: []byte(test.head)}, capture.ResponseBody{Data: []byte(test.body)},
				capture.ResponseEnd{Size: int64(len(test.body))}, capture.Closed{})
			var got summary.Summary
			e := engine.New(nil, engine.OnEnded(func(x summary.Summary) { got = x }))
			for _, s := range c.Steps {
				e.Step(s)
			}
			if got.Outcome.Failure != test.failure || got.Said != test.said || got.Outcome.Succeeded {
				t.Errorf("%+v with %q, want %q with %q", got.Outcome, got.Said, test.failure, test.said)
			}
		})
	}
}
