package analyzer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A send is one message over JSON-RPC, as its steps.
type send struct {
	seq           uint64
	client, agent string
}

func (s send) ask(engine *analyzer.Engine) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SendMessage","params":{"message":{"messageId":"m%d",`+
		`"role":"ROLE_USER","parts":[{"text":"hi"}]}}}`, s.seq, s.seq)
	s.steps(engine,
		capture.Opened{
			ID: uuid.New(), Started: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Client: capture.Peer{Name: s.client},
			Agent: capture.Peer{Name: s.agent, URL: "http://" + s.agent + ".example"},
			Head: []byte("POST /rpc HTTP/1.1\r\nHost: " + s.agent + ".example\r\nContent-Type: application/json\r\n" +
				"A2A-Version: 1.0\r\n\r\n"),
		},
		capture.RequestBody{Data: []byte(body)}, capture.RequestEnd{Size: int64(len(body))})
}

func (s send) answer(engine *analyzer.Engine) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"message":{"messageId":"a%d","role":"ROLE_AGENT",`+
		`"contextId":"c%d","parts":[{"text":"yes"}]}}}`, s.seq, s.seq, s.seq)
	s.steps(engine,
		capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
		capture.ResponseBody{Data: []byte(body)}, capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
}

func (s send) steps(engine *analyzer.Engine, list ...capture.What) {
	for _, what := range list {
		engine.Step(capture.Step{Seq: s.seq, What: what})
	}
}

// What each client was answered is told apart, and whether messages waited at the same time.
func TestContacts(t *testing.T) {
	engine := analyzer.NewEngine(nil)
	first, second := send{1, "planner", "booker"}, send{2, "planner", "booker"}
	other, alone := send{3, "hotel", "booker"}, send{4, "booker", "planner"}
	first.ask(engine)
	other.ask(engine)
	other.answer(engine) // beside another client's message, which is no matter of this link
	second.ask(engine)
	first.answer(engine)
	second.answer(engine)
	alone.ask(engine)
	alone.answer(engine)
	got := make(map[string]analyzer.Contact)
	for _, a := range engine.Agents() {
		for client, contact := range a.Contacts {
			got[client+" "+a.Link] = contact
		}
	}
	want := map[string]analyzer.Contact{
		"planner booker": {Operations: map[a2a.Operation]int{a2a.SendMessage: 2}, AtOnce: 1},
		"hotel booker":   {Operations: map[a2a.Operation]int{a2a.SendMessage: 1}},
		"booker planner": {Operations: map[a2a.Operation]int{a2a.SendMessage: 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contacts (-want +got):\n%s", diff)
	}
}

// Contacts of several captures add up.
func TestContactsAddUp(t *testing.T) {
	one := func() *analyzer.Result {
		return &analyzer.Result{Agents: []analyzer.Agent{{
			Link: "booker", Operations: map[a2a.Operation]int{},
			Contacts: map[string]analyzer.Contact{"planner": {Operations: map[a2a.Operation]int{a2a.GetTask: 1}, AtOnce: 2}},
		}}}
	}
	r := &analyzer.Result{}
	r.Add(one())
	r.Add(one())
	want := map[string]analyzer.Contact{"planner": {Operations: map[a2a.Operation]int{a2a.GetTask: 2}, AtOnce: 4}}
	if diff := cmp.Diff(want, r.Agents[0].Contacts); diff != "" {
		t.Errorf("contacts (-want +got):\n%s", diff)
	}
}
