package stream

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

const subscribe = `{"jsonrpc":"2.0","id":2,"method":"SubscribeToTask","params":{"id":"t1"}}`

func status(state, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":%q,"message":`+
		`{"messageId":%q,"role":"ROLE_AGENT","parts":[{"text":"x"}]}}}}}`, "TASK_STATE_"+state, text)
}

// two opens two streams of one task and gives each its events and its end, in turn.
func two(t *testing.T, first, second []string) *enginetest.Conversation {
	c := &enginetest.Conversation{T: t}
	steps := make([][]capture.Step, 2)
	for i, events := range [][]string{first, second} {
		c.Open("planner", enginetest.RPCHead)
		c.Ask(subscribe)
		c.Add(capture.ResponseHead{Head: []byte(enginetest.SSEHead), Stream: true})
		c.Event(1, enginetest.Working)
		begun := len(c.Steps)
		for k, event := range events {
			c.Event(k+2, event)
		}
		c.Add(capture.ResponseEnd{}, capture.Closed{})
		steps[i] = append(steps[i], c.Steps[begun:]...)
		c.Steps = c.Steps[:begun]
	}
	for i := range max(len(steps[0]), len(steps[1])) {
		for _, list := range steps {
			if i < len(list) {
				c.Steps = append(c.Steps, list[i])
			}
		}
	}
	for i := range c.Steps {
		c.Steps[i].Arrival = uint64(i + 1)
	}
	return c
}

// Parallel streams of one task are compared from their end, and only as far as both are remembered.
func TestDiverges(t *testing.T) {
	long := func(n int, last ...string) []string {
		var events []string
		for i := range n {
			events = append(events, status("WORKING", fmt.Sprint("m", i)))
		}
		return append(events, last...)
	}
	done := status("COMPLETED", "end")
	tests := []struct {
		name          string
		first, second []string
		compared      bool
		k             int
	}{
		{"the same", long(3, done), long(3, done), true, 0},
		{"one begins later", long(3, done), long(3, done)[1:], true, 0},
		{"another update", append(long(2), status("WORKING", "x"), done), long(3, done), true, 4},
		{"no end", long(3), long(3), false, 0},
		{
			"another update, longer ago than is remembered",
			append([]string{status("WORKING", "x")}, long(maxUpdates+1, done)[1:]...), long(maxUpdates+1, done), true, 0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var compared bool
			var found *Divergence
			var m *Memory
			rule := enginetest.Rule("r", analysis.StreamEnded, func(p *analysis.Pass) {
				m = Of(p)
				if d, ok := m.Diverges(p.Observation); ok {
					compared, found = true, d
				}
			})
			rule.Needs = []*analysis.Tracker{Tracker}
			two(t, test.first, test.second).Judge(rule)
			if compared != test.compared || (found != nil) != (test.k > 0) {
				t.Fatalf("compared %v, found %+v; want %v, and a difference: %v", compared, found, test.compared, test.k > 0)
			}
			if found != nil && found.K != test.k {
				t.Errorf("they differ in event %d, want %d", found.K, test.k)
			}
			expect.Equal(t, "tasks are kept whose streams are over", 0, m.tasks.Len())
		})
	}
}

// Of the streams of a task, the newest are compared.
func TestRunsAreBounded(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	for range 3 * maxRuns {
		c.Open("planner", enginetest.RPCHead)
		c.Ask(subscribe)
		c.Add(capture.ResponseHead{Head: []byte(enginetest.SSEHead), Stream: true})
		c.Event(1, enginetest.Working)
	}
	var m *Memory
	rule := enginetest.Rule("r", analysis.EventSeen, func(p *analysis.Pass) { m = Of(p) })
	rule.Needs = []*analysis.Tracker{Tracker}
	e := engine.New([]*analysis.Rule{rule})
	for _, s := range c.Steps {
		e.Step(s)
	}
	key := analysis.TaskKeyOf("http://booker:9001/rpc", "", "t1")
	known, ok := m.tasks.Get(key)
	if !ok || len(known.runs) != maxRuns || known.runs[0].exchange != 2*maxRuns+1 || !known.shared {
		t.Errorf("got %+v, want the last %d streams", known, maxRuns)
	}
}
