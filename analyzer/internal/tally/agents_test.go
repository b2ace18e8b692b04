package tally_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// A send is one message over JSON-RPC, as its steps.
type send struct {
	seq           uint64
	client, agent string
}

func (s send) ask(e *engine.Engine) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SendMessage","params":{"message":{"messageId":"m%d",`+
		`"role":"ROLE_USER","parts":[{"text":"hi"}]}}}`, s.seq, s.seq)
	s.steps(e,
		capture.Opened{
			ID: uuid.New(), Started: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Client: capture.Peer{Name: s.client},
			Agent: capture.Peer{Name: s.agent, URL: "http://" + s.agent + ".example"},
			Head: []byte("POST /rpc HTTP/1.1\r\nHost: " + s.agent + ".example\r\nContent-Type: application/json\r\n" +
				"A2A-Version: 1.0\r\n\r\n"),
		},
		capture.RequestBody{Data: []byte(body)}, capture.RequestEnd{Size: int64(len(body))})
}

func (s send) answer(e *engine.Engine) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"message":{"messageId":"a%d","role":"ROLE_AGENT",`+
		`"contextId":"c%d","parts":[{"text":"yes"}]}}}`, s.seq, s.seq, s.seq)
	s.steps(e,
		capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
		capture.ResponseBody{Data: []byte(body)}, capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
}

func (s send) steps(e *engine.Engine, list ...capture.What) {
	for _, what := range list {
		e.Step(capture.Step{Seq: s.seq, What: what})
	}
}

// What each client was answered is told apart, and whether messages waited at the same time.
func TestContacts(t *testing.T) {
	e := engine.New(nil)
	first, second := send{1, "planner", "booker"}, send{2, "planner", "booker"}
	other, alone := send{3, "hotel", "booker"}, send{4, "booker", "planner"}
	first.ask(e)
	other.ask(e)
	other.answer(e) // beside another client's message, which is no matter of this link
	second.ask(e)
	first.answer(e)
	second.answer(e)
	alone.ask(e)
	alone.answer(e)
	got := make(map[string]judgment.Contact)
	for _, a := range e.Agents() {
		for client, contact := range a.Contacts {
			got[client+" "+a.Link] = contact
		}
	}
	want := map[string]judgment.Contact{
		"planner booker": {Operations: map[a2a.Operation]int{a2a.SendMessage: 2}, AtOnce: 1},
		"hotel booker":   {Operations: map[a2a.Operation]int{a2a.SendMessage: 1}},
		"booker planner": {Operations: map[a2a.Operation]int{a2a.SendMessage: 1}},
	}
	expect.Same(t, "contacts", want, got)
}
