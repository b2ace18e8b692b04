package reading_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

const working = `-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r1","method":"SendStreamingMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"Two tickets"}]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: {"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}

data: {"jsonrpc":"2.0","id":"r1","result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}

`

// One exchange read by itself tells a filter what it needs.
func TestFacts(t *testing.T) {
	tr, err := transcript.Parse("example.txtar", []byte(working))
	if err != nil {
		t.Fatal(err)
	}
	r := reading.Read(tr.Exchanges[0])
	facts := reading.Facts{Reading: r, Marked: true, Findings: []analyzer.Finding{
		{Rule: &analyzer.Rule{ID: "outer"}, Also: []string{"inner"}, Severity: analyzer.Warning, Side: a2a.Agent},
	}}
	want := map[string][]string{
		"op":       {"SendStreamingMessage", "SendStreamingMessage"},
		"dialect":  {"1.0"},
		"binding":  {"jsonrpc"},
		"task":     {"t1"},
		"context":  {"c1"},
		"message":  {"m1"},
		"state":    {"completed", "working"},
		"role":     {"user"},
		"event":    {"Task", "TaskStatusUpdateEvent", "status", "status-update", "statusUpdate"},
		"code":     nil,
		"is":       {"marked"},
		"rule":     {"outer", "inner"},
		"severity": {"warning"},
		"side":     {"agent"},
		"unknown":  nil,
	}
	for key, values := range want {
		if diff := cmp.Diff(values, facts.Values(key)); diff != "" {
			t.Errorf("values of %s (-want +got):\n%s", key, diff)
		}
	}
	if r.State() != "working" {
		t.Errorf("state is %q, want the last one", r.State())
	}
}

func TestFactsOfErrorsAndCards(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`)
	c.Open("planner", "GET /.well-known/agent-card.json HTTP/1.1\r\n\r\n")
	c.Add(capture.RequestEnd{})
	c.Answer(`{"name":"Booker","supportedInterfaces":[]}`)
	memory := capture.NewMemory(capture.Info{})
	if err := memory.Append(c.Steps...); err != nil {
		t.Fatal(err)
	}
	for seq, want := range map[uint64]map[string][]string{
		1: {"code": {"-32001", "TaskNotFoundError"}, "is": {"error"}, "state": nil, "binding": {"jsonrpc"}},
		2: {"code": nil, "is": {"card"}, "op": {"GetAgentCard"}, "binding": nil},
	} {
		x, err := memory.Exchange(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		for key, values := range want {
			if diff := cmp.Diff(values, reading.Facts{Reading: reading.Read(x)}.Values(key)); diff != "" {
				t.Errorf("exchange %d, values of %s (-want +got):\n%s", seq, key, diff)
			}
		}
	}
}

// A filter's word is understood in any spelling.
func TestNormalise(t *testing.T) {
	tests := []struct{ key, word, want string }{
		{"op", "message/send", "SendMessage"},
		{"op", "SendMessage", "SendMessage"},
		{"op", "health", "health"},
		{"state", "TASK_STATE_INPUT_REQUIRED", "input-required"},
		{"state", "completed", "completed"},
		{"role", "ROLE_AGENT", "agent"},
		{"task", "Completed", "Completed"},
	}
	for _, test := range tests {
		if got := (reading.Facts{}).Normalise(test.key, test.word); got != test.want {
			t.Errorf("%s:%s is read as %q, want %q", test.key, test.word, got, test.want)
		}
	}
}
