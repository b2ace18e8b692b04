package task

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// A tracker that forgot a task knows nothing about it, and reports that.
func TestForgottenTasks(t *testing.T) {
	m := &Memory{tasks: analysis.RecentByTask[*Task](3)}
	x := &analysis.Exchange{Brief: analysis.Brief{Seq: 1}, Agent: "http://booker/rpc"}
	for i := range 5 {
		seen := &analysis.TaskObservation{TaskID: fmt.Sprint("t", i), State: a2a.Completed, ContextID: "c"}
		m.see(&analysis.Observation{Exchange: x, Task: seen})
	}
	if m.Get(x, "t0") != nil || m.Get(x, "t1") != nil || m.Get(x, "t4") == nil {
		t.Error("other tasks are kept than those that were seen last")
	}
	expect.Equal(t, "forgotten", 2, m.Forgotten())
}

// What a long stream sends again and again is not gathered.
func TestSentIsBounded(t *testing.T) {
	var task Task
	for range 100 {
		task.remember(sending("m1"))
	}
	task.remember(sending(""))
	if len(task.sent) != 1 || !task.WasSent("m1") {
		t.Errorf("%d messages are kept, want one", len(task.sent))
	}
	for i := range 2 * maxMessages {
		task.remember(sending(fmt.Sprint(i)))
	}
	if len(task.sent) != maxMessages || task.WasSent("m1") || !task.WasSent(fmt.Sprint(2*maxMessages-1)) {
		t.Errorf("sent holds %d ids, want the last %d", len(task.sent), maxMessages)
	}
	if task.WasSent("") {
		t.Error("a message without an id was sent before")
	}
}

const (
	again = `{"jsonrpc":"2.0","id":2,"method":"SendMessage","params":{"message":` +
		`{"messageId":"m2","taskId":"t1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`
	completed = `{"jsonrpc":"2.0","id":1,"result":{"task":` +
		`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}`
)

// What a request can have known of the task that it names is what had been delivered before it began.
func TestNamedTask(t *testing.T) {
	tests := []struct {
		name string
		talk func(c *enginetest.Conversation)
		want string
	}{
		{"a task that was never seen", func(*enginetest.Conversation) {}, "unknown"},
		{
			"a task at work", func(c *enginetest.Conversation) { c.Exchange("planner", enginetest.Send, enginetest.Working) },
			"active",
		},
		{
			"a task that has ended", func(c *enginetest.Conversation) { c.Exchange("planner", enginetest.Send, completed) },
			"ended told",
		},
		{"an end that somebody else was told", func(c *enginetest.Conversation) {
			c.Exchange("hotel", enginetest.Send, completed)
		}, "ended"},
		{"a message that was sent before", func(c *enginetest.Conversation) {
			c.Exchange("planner", enginetest.Send, enginetest.Working)
			c.Exchange("planner", again, enginetest.Working)
		}, "active retry"},
		{"a request that was missed", func(c *enginetest.Conversation) {
			c.Exchange("planner", enginetest.Send, enginetest.Working)
			c.Add(capture.Lost{Exchanges: 1})
			c.Steps[len(c.Steps)-1].Seq = 0
		}, "active retry"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			rule := enginetest.Rule("r", analysis.RequestSeen, func(p *analysis.Pass) {
				got = nil
				m, x := Of(p), p.Exchange
				for word, holds := range map[string]bool{
					"unknown": m.Named(x) == nil, "active": m.ActiveBefore(x) != nil, "ended": m.EndedBefore(x) != nil,
					"told": m.ToldEnd(x), "retry": m.Retry(x),
				} {
					if holds {
						got = append(got, word)
					}
				}
				slices.Sort(got)
			})
			rule.Needs = []*analysis.Tracker{Tracker}
			c := &enginetest.Conversation{T: t}
			test.talk(c)
			c.Exchange("planner", again, enginetest.Working)
			c.Judge(rule)
			expect.Equal(t, "the task", test.want, strings.Join(got, " "))
		})
	}
}

// sending returns an exchange that sends a message with that id.
func sending(id string) *analysis.Exchange { return &analysis.Exchange{Call: a2a.Call{MessageID: id}} }
