package intake_test

import (
	"strings"
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// What follows an upgrade, or passes in a tunnel, was not observed, and the verdict says so.
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
			text := r.Verdict(analyzer.Error).String()
			if said != test.want || strings.Contains(text, "1 connection not observed") != test.want {
				t.Errorf("said %v, and %q; want %v", said, text, test.want)
			}
		})
	}
}
