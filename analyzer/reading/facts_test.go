package reading_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// exchangesOf returns the exchanges of a conversation.
func exchangesOf(t *testing.T, c *enginetest.Conversation) capture.Source {
	t.Helper()
	memory := capture.NewMemory(capture.Info{})
	must.Do(t, memory.Append(c.Steps...))
	return memory
}

// One exchange read by itself tells a filter what it needs.
func TestFacts(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	c.Open("planner", enginetest.RPCHead)
	c.Ask(strings.Replace(enginetest.Send, "SendMessage", "SendStreamingMessage", 1))
	c.Add(capture.ResponseHead{Head: []byte(enginetest.SSEHead), Stream: true})
	c.Event(1, strings.Replace(enginetest.Working, "WORKING", "COMPLETED", 1))
	c.Event(2, `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":`+
		`{"state":"TASK_STATE_WORKING"}}}}`)
	x := must.Get(exchangesOf(t, c).Exchange(t.Context(), 1))(t)
	r := reading.Read(x)
	facts := reading.Facts{Reading: r, Marked: true, Findings: []analysis.Finding{
		{Rule: &analysis.Rule{ID: "outer"}, Also: []string{"inner"}, Severity: analysis.Warning, Side: a2a.Agent},
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
		expect.Same(t, fmt.Sprintf("values of %s", key), values, facts.Values(key))
	}
	expect.Equal(t, "state", "working", r.State())
}

func TestFactsOfErrorsAndCards(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`)
	c.Open("planner", "GET /.well-known/agent-card.json HTTP/1.1\r\n\r\n")
	c.Add(capture.RequestEnd{})
	c.Answer(`{"name":"Booker","supportedInterfaces":[]}`)
	src := exchangesOf(t, c)
	for seq, want := range map[uint64]map[string][]string{
		1: {"code": {"-32001", "TaskNotFoundError"}, "is": {"error"}, "state": nil, "binding": {"jsonrpc"}},
		2: {"code": nil, "is": {"card"}, "op": {"GetAgentCard"}, "binding": nil},
	} {
		x := must.Get(src.Exchange(t.Context(), seq))(t)
		for key, values := range want {
			if diff := cmp.Diff(values, reading.Facts{Reading: reading.Read(x)}.Values(key)); diff != "" {
				t.Errorf("exchange %d, values of %s (-want +got):\n%s", seq, key, diff)
			}
		}
	}
}

// Where several values come instead of a stream, all of them are read.
func TestFactsOfManyValues(t *testing.T) {
	const first = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}`
	const last = `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":` +
		`{"state":"TASK_STATE_COMPLETED"}}}}`
	stream := strings.Replace(enginetest.Send, "SendMessage", "SendStreamingMessage", 1)
	for name, test := range map[string]struct {
		asked, answer string
		states        []string
	}{
		"lines":              {stream, first + "\n" + last + "\n", []string{"working", "completed"}},
		"array":              {stream, "[" + first + "," + last + "]", []string{"working", "completed"}},
		"array of texts":     {stream, `["a","b"]`, nil},
		"lines of no stream": {enginetest.Send, first + "\n" + last + "\n", []string{"working"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			c.Exchange("planner", test.asked, test.answer)
			x := must.Get(exchangesOf(t, c).Exchange(t.Context(), 1))(t)
			expect.Same(t, "states", test.states, reading.Facts{Reading: reading.Read(x)}.Values("state"))
		})
	}
}

// A filter's word is understood in any spelling.
func TestNormalize(t *testing.T) {
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
		if got := (reading.Facts{}).Normalize(test.key, test.word); got != test.want {
			t.Errorf("%s:%s is read as %q, want %q", test.key, test.word, got, test.want)
		}
	}
}
