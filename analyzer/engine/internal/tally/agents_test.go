package tally_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/engine"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// A send is one message over JSON-RPC, or one question for a task, as its steps.
type send struct {
	seq           uint64
	client, agent string
	get           string // the task that is asked for; empty for a message
}

func (s send) ask(e *engine.Engine) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SendMessage","params":{"message":{"messageId":"m%d",`+
		`"role":"ROLE_USER","parts":[{"text":"hi"}]}}}`, s.seq, s.seq)
	if s.get != "" {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"GetTask","params":{"id":%q}}`, s.seq, s.get)
	}
	s.steps(e,
		capture.Opened{
			ID: uuid.New(), Started: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Client: capture.Peer{Name: s.client},
			Agent: capture.Peer{Name: s.agent, URL: "http://" + s.agent + ".example"},
			Head: []byte("POST /rpc HTTP/1.1\r\nHost: " + s.agent + ".example\r\nContent-Type: application/json\r\n" +
				"A2A-Version: 1.0\r\n\r\n"),
		},
		capture.RequestBody{Data: []byte(body)}, capture.RequestEnd{Size: int64(len(body))})
}

// answer answers with a message, or with a task in a state.
func (s send) answer(e *engine.Engine, task, state string) {
	result := fmt.Sprintf(`{"message":{"messageId":"a%d","role":"ROLE_AGENT","contextId":"c%d","parts":[{"text":"yes"}]}}`,
		s.seq, s.seq)
	if task != "" {
		result = fmt.Sprintf(`{"id":%q,"contextId":"c%s","status":{"state":"TASK_STATE_%s"}}`, task, task, state)
		if s.get == "" {
			result = `{"task":` + result + `}`
		}
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, s.seq, result)
	s.steps(e,
		capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
		capture.ResponseBody{Data: []byte(body)}, capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
}

func (s send) steps(e *engine.Engine, list ...capture.What) {
	for _, what := range list {
		e.Step(capture.Step{Seq: s.seq, What: what})
	}
}

// S0-5.5d: answers, and tasks that were at work in parallel, are counted for each client. Overlapping calls are not
// enough.
func TestContacts(t *testing.T) {
	const working, completed = "WORKING", "COMPLETED"
	booker := func(seq uint64, get string) send { return send{seq, "planner", "booker", get} }
	type step struct {
		send        send
		task, state string // of the answer; asked before if the state is empty
	}
	ask := func(s send) step { return step{send: s} }
	// inTurn makes a task in the state first, another one, and asks for the first, which is then in the state last.
	inTurn := func(first, last string) []step {
		return []step{
			ask(booker(1, "")),
			{booker(1, ""), "a", first},
			ask(booker(2, "")),
			{booker(2, ""), "b", working},
			ask(booker(3, "a")),
			{booker(3, "a"), "a", last},
		}
	}
	for name, tt := range map[string]struct {
		steps  []step
		atOnce int
	}{
		"calls overlap, and are answered with messages": {
			[]step{ask(booker(1, "")), ask(booker(2, "")), {booker(1, ""), "", "-"}, {booker(2, ""), "", "-"}}, 0,
		},
		"calls overlap, and each makes a task": {
			[]step{ask(booker(1, "")), ask(booker(2, "")), {booker(1, ""), "a", completed}, {booker(2, ""), "b", completed}}, 2,
		},
		"one after the other": {
			[]step{ask(booker(1, "")), {booker(1, ""), "a", completed}, ask(booker(2, "")), {booker(2, ""), "b", completed}}, 0,
		},
		"no calls overlap, and the first task is still at work":     {inTurn(working, working), 2},
		"the first task may have ended before the second began":     {inTurn(working, completed), 0},
		"no calls overlap, and the first task waits for the client": {inTurn("INPUT_REQUIRED", "INPUT_REQUIRED"), 0},
		"another client's task": {
			[]step{
				ask(booker(1, "")),
				ask(send{2, "hotel", "booker", ""}),
				{booker(1, ""), "a", completed},
				{send{2, "hotel", "booker", ""}, "b", completed},
			}, 0,
		},
	} {
		e := engine.New(nil)
		for _, s := range tt.steps {
			if s.state == "" {
				s.send.ask(e)
			} else {
				s.send.answer(e, s.task, s.state)
			}
		}
		for _, a := range e.Agents() {
			expect.Equal(t, name, tt.atOnce, a.Contacts["planner"].AtOnce)
			if n := a.Contacts["planner"].Operations[a2a.SendMessage]; n == 0 {
				t.Errorf("%s: no message of planner is counted", name)
			}
		}
	}
}
