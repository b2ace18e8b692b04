package judgment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/neighbor"
)

// modelCall returns a call of a model that exchange 1 caused.
func modelCall(seq uint64, change ...func(*summary.Summary)) summary.Summary {
	s := summary.Summary{
		Seq: seq, Link: analysis.Link{Client: "planner", Agent: "llm"}, Asked: "chat gpt-x", Status: 200, Life: capture.StateClosed,
		Neighbor: &neighbor.Call{Kind: neighbor.Model, Operation: "chat", Subject: "gpt-x"}, Cause: 1, Asks: seq,
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func toolCall(seq uint64, change ...func(*summary.Summary)) summary.Summary {
	return modelCall(seq, append([]func(*summary.Summary){func(s *summary.Summary) {
		s.Link.Agent, s.Asked = "weather", "tools/call weather"
		s.Neighbor = &neighbor.Call{Kind: neighbor.MCP, Operation: "tools/call", Subject: "weather"}
	}}, change...)...)
}

func agentCall(op a2a.Operation, seq uint64, state a2a.State, change ...func(*summary.Summary)) summary.Summary {
	s := summary.Summary{
		Seq: seq, Link: analysis.Link{Client: "user", Agent: "planner"}, Asked: op.String(), Status: 200, Life: capture.StateClosed,
		Operation: op, Binding: a2a.JSONRPC, Dialects: a2a.Of(a2a.V1_0), Call: true, Judged: true, State: state,
		Outcome: analysis.Outcome{Succeeded: true}, Started: time.Unix(1, 0), Took: time.Second,
	}
	if state != a2a.NoState {
		s.Task, s.Tasks, s.States = "t", []string{"t"}, []a2a.State{state}
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func withError(s *summary.Summary) { s.Neighbor.Failed, s.Neighbor.Failure = true, "no such city" }
func equal(s *summary.Summary)     { s.Asks = 7 }
func unplaced(s *summary.Summary)  { s.Cause = 0 }
func unreachable(s *summary.Summary) {
	s.Fault = &capture.TransportFault{Kind: "unreachable", Side: "agent"}
}
func handshake(s *summary.Summary) { s.Neighbor.Operation, s.Asked = "initialize", "initialize" }
func refusing(s *summary.Summary)  { s.Outcome = analysis.Outcome{Failure: "InternalError"} }

func times(n int, call func(seq uint64) summary.Summary) (list []summary.Summary) {
	for i := range n {
		list = append(list, call(uint64(i+2)))
	}
	return list
}

// What the verdict says of calls of models and tools, and that it does not depend on them.
func TestRemarks(t *testing.T) {
	done := agentCall(a2a.SendMessage, 1, a2a.Completed)
	list := func(calls ...summary.Summary) []summary.Summary { return calls }
	for _, tt := range []struct {
		name  string
		calls []summary.Summary
		want  string
	}{
		{"nothing to remark", list(modelCall(2), toolCall(3), done), ""},
		{
			"a model that was reached once", list(modelCall(2, unreachable, unplaced), modelCall(3, unplaced), modelCall(4, unreachable, unplaced)),
			"unreached: 2 chat gpt-x: the model llm could not be reached, in 2 of 3 calls",
		},
		{
			"an MCP server that was never reached", list(toolCall(2, handshake, unreachable)),
			"unreached: 2 initialize: the MCP server weather could not be reached, in 1 of 1 call",
		},
		{"a model that breaks off was reached", list(modelCall(2, unplaced, func(s *summary.Summary) {
			s.Fault = &capture.TransportFault{Kind: "reset", Side: "agent"}
		})), ""},
		{
			"a loop", append(times(32, func(n uint64) summary.Summary { return toolCall(n, equal) }), done),
			"repeated: 2 tools/call weather: 32 equal calls during 1, the last one is 33 (planner → weather)",
		},
		{
			"retries of a model", append(times(10, func(n uint64) summary.Summary { return modelCall(n, equal) }), done),
			"repeated: 2 chat gpt-x: 10 equal calls during 1, the last one is 11 (planner → llm)",
		},
		{"not many", append(times(9, func(n uint64) summary.Summary { return toolCall(n, equal) }), done), ""},
		{"other arguments", append(times(32, func(n uint64) summary.Summary { return toolCall(n) }), done), ""},
		{"arguments that are not on record", times(32, func(n uint64) summary.Summary {
			return toolCall(n, func(s *summary.Summary) { s.Asks = 0 })
		}), ""},
		{"for different requests", times(32, func(n uint64) summary.Summary {
			return toolCall(n, equal, func(s *summary.Summary) { s.Cause = n % 4 })
		}), ""},
		{"by different clients", times(32, func(n uint64) summary.Summary {
			return toolCall(n, equal, func(s *summary.Summary) { s.Link.Client = fmt.Sprint(n % 4) })
		}), ""},
		{
			"completed all the same", list(toolCall(2, withError), modelCall(3), done),
			"hidden: 1 SendMessage was completed although 2 tools/call weather, made during it, had failed: no such city (user → planner)",
		},
		{"a Message completes, too", list(modelCall(2, func(s *summary.Summary) {
			s.Status, s.Neighbor.Failed, s.Neighbor.Failure = 429, true, "slow down"
		}), agentCall(a2a.SendMessage, 1, a2a.NoState)), "hidden: 1 SendMessage was completed although 2 chat gpt-x, made during it, had failed: " +
			"429 Too Many Requests: slow down (user → planner)"},
		{"a later call of the same kind succeeded", list(toolCall(2, withError), toolCall(3), done), ""},
		{"a failed handshake", list(toolCall(2, withError, handshake), done), ""},
		{"it failed, too", list(toolCall(2, withError), agentCall(a2a.SendMessage, 1, a2a.NoState, refusing)), ""},
		{"its task failed", list(toolCall(2, withError), agentCall(a2a.SendMessage, 1, a2a.Failed)), ""},
		{"for another request", list(toolCall(2, withError, unplaced), done), ""},
		{
			"a task that is completed later",
			list(modelCall(2), agentCall(a2a.SendMessage, 1, a2a.Working), toolCall(3, withError), agentCall(a2a.GetTask, 4, a2a.Working),
				agentCall(a2a.GetTask, 5, a2a.Completed), agentCall(a2a.GetTask, 6, a2a.Completed)),
			"hidden: 1 SendMessage was completed although 3 tools/call weather, made during it, had failed: no such city (user → planner)",
		},
		{
			"twice alike",
			list(toolCall(2, withError), done, toolCall(4, withError, func(s *summary.Summary) { s.Cause = 3 }), agentCall(a2a.SendMessage, 3, a2a.Completed)),
			"hidden: 1 SendMessage was completed although 2 tools/call weather, made during it, had failed: no such city (user → planner) (and 1 more)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var with, without judgment.Result
			with.Count(tt.calls...)
			without.Count(slices.DeleteFunc(slices.Clone(tt.calls), func(s summary.Summary) bool { return s.Neighbor != nil })...)
			var got []string
			for _, s := range with.Verdict(analysis.Warning).Statements() {
				switch s.Subject {
				case judgment.AboutUnreached, judgment.AboutRepeated, judgment.AboutHidden:
					got = append(got, string(s.Subject)+": "+s.String())
					if s.Exit != judgment.Passes {
						t.Errorf("%q has an exit", s)
					}
				}
			}
			expect.Same(t, "remarks", tt.want, strings.Join(got, "\n"))
			expect.Same(t, "verdict", string(without.Verdict(analysis.Warning).Status), string(with.Verdict(analysis.Warning).Status))
		})
	}
}
