package summary_test

import (
	"testing"

	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/neighbor"
)

func TestNeighborOutcome(t *testing.T) {
	left := &capture.TransportFault{Kind: "client-left", Side: "client"}
	for _, tt := range []struct {
		name, want string
		failed     bool
		summary    summary.Summary
	}{
		{"a model's answer", "asks for a, b and 1 more, 3→4 tokens, first chunk 5.0ms", false, summary.Summary{
			Status: 200, Stream: true, Events: 9, Neighbor: &neighbor.Call{
				Kind: neighbor.Model, Asked: []neighbor.ToolCall{{Name: "a"}, {Name: "b"}, {Name: "a"}},
				Finish: "tool_calls", Input: 3, Output: 4, First: 5_000_000,
			},
		}},
		{"a model that is asked too often", "429 Too Many Requests: slow down", true, summary.Summary{
			Status: 429, Neighbor: &neighbor.Call{Kind: neighbor.Model, Failed: true, Failure: "slow down"},
		}},
		{"a tool that fails", "failed: no such city", true, summary.Summary{
			Status: 200, Neighbor: &neighbor.Call{Kind: neighbor.MCP, Failed: true, Failure: "no such city"},
		}},
		{"a client that leaves with the result", `"warm"`, false, summary.Summary{
			Status: 200, Text: "warm", Fault: left,
			Neighbor: &neighbor.Call{Kind: neighbor.MCP, Operation: "tools/call", Answered: true},
		}},
		{"a client that leaves before", "client-left by client", true, summary.Summary{
			Status: 200, Fault: left, Neighbor: &neighbor.Call{Kind: neighbor.MCP, Operation: "tools/call"},
		}},
		{"a client that has listened", "asked back for roots/list", false, summary.Summary{
			Status: 200, Fault: left,
			Neighbor: &neighbor.Call{Kind: neighbor.MCP, Operation: "listen", Requests: []string{"roots/list"}},
		}},
	} {
		tt.summary.Life = capture.StateClosed
		expect.Equal(t, tt.name, tt.want, tt.summary.OutcomeText())
		expect.Equal(t, tt.name+": failed", tt.failed, tt.summary.Failed())
	}
}
