package analysis_test

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// On a notification the agent sends the request, and the client receives it.
func TestPrograms(t *testing.T) {
	link := analysis.Link{Client: "booker", Agent: "planner"}
	for _, test := range []struct {
		op                      a2a.Operation
		client, agent, receiver string
	}{
		{a2a.SendMessage, "booker", "planner", ""},
		{a2a.CreatePushConfig, "booker", "planner", ""},
		{a2a.NoOperation, "booker", "planner", ""},
		{a2a.Webhook, "planner", "booker", "planner"},
	} {
		for side, want := range map[a2a.Side]string{
			a2a.Client: test.client, a2a.Agent: test.agent, a2a.Receiver: test.receiver, a2a.Nobody: "",
		} {
			f := &analysis.Finding{Link: link, Operation: test.op, Side: side}
			if got := f.Program(); got != want {
				t.Errorf("%s: the %s is %q, want %q", test.op, side, got, want)
			}
		}
	}
}
