package tally_test

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Clients that send a new name with each request are counted together once they are too many; agents too. The sums
// include all of them, and the first ones keep their own counts.
func TestManyLinks(t *testing.T) {
	const many = 1200
	applies := enginetest.Rule("applies", analysis.AnswerSeen, func(p *analysis.Pass) { p.Applied() })
	e := engine.New([]*analysis.Rule{applies})
	seq := uint64(0)
	call := func(client, agent string) {
		seq++
		s := send{seq, client, agent, ""}
		s.ask(e)
		s.answer(e, "", "")
	}
	for i := range many {
		call(fmt.Sprintf("client%d", i), "booker")
	}
	call("client0", "booker")
	for i := range many {
		call("client0", fmt.Sprintf("agent%d", i))
	}
	calls := make(map[analysis.Link]int)
	for _, c := range e.Calls() {
		calls[c.Link] = c.Succeeded
	}
	applied := make(map[analysis.Link]int)
	for _, c := range e.Coverage() {
		applied[c.Link] = c.Applied
	}
	contacts := make(map[analysis.Link]int)
	for _, a := range e.Agents() {
		for client, contact := range a.Contacts {
			contacts[analysis.Link{Client: client, Agent: a.Link}] = contact.Operations[a2a.SendMessage]
		}
	}
	for name, got := range map[string]map[analysis.Link]int{"calls": calls, "coverage": applied, "contacts": contacts} {
		sum := 0
		for _, n := range got {
			sum += n
		}
		if len(got) != 2001 || sum != int(seq) {
			t.Errorf("%s: %d links with a sum of %d, want 2001 with %d", name, len(got), sum, seq)
		}
		for link, want := range map[analysis.Link]int{
			{Client: "client0", Agent: "booker"}:                         2,
			{Client: "client999", Agent: "booker"}:                       1,
			{Client: judgment.OtherClients, Agent: "booker"}:             many - 1000,
			{Client: judgment.OtherClients, Agent: "agent998"}:           1,
			{Client: judgment.OtherClients, Agent: judgment.OtherAgents}: many - 999,
		} {
			if got[link] != want {
				t.Errorf("%s: %d on %v, want %d", name, got[link], link, want)
			}
		}
	}
}

// A link without a successful call is reported until a call succeeds, however many links came before.
func TestLinkWithoutSuccess(t *testing.T) {
	e := engine.New([]*analysis.Rule{
		enginetest.Rule("applies", analysis.AnswerSeen, func(p *analysis.Pass) { p.Applied() }),
	})
	seq := uint64(0)
	next := func(client, agent string) send {
		seq++
		return send{seq, client, agent, ""}
	}
	call := func(s send) { s.ask(e); s.answer(e, "", "") }
	fail := func(s send) {
		s.ask(e)
		s.steps(e, capture.ResponseHead{Head: []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")},
			capture.ResponseEnd{}, capture.Closed{})
	}
	verdict := func() judgment.Verdict {
		r := &judgment.Result{Calls: e.Calls(), Counts: e.Counts()}
		return r.Verdict(analysis.Error)
	}
	for i := range 1100 {
		call(next(fmt.Sprintf("client%d", i), "booker"))
	}
	if v := verdict(); v.Status != judgment.StatusClean {
		t.Fatalf("all calls have succeeded, and the verdict is %v", v)
	}
	fail(next("planner", "booker"))
	fail(next("planner", "booker"))
	want := analysis.Link{Client: "planner", Agent: "booker"}
	v := verdict()
	if v.Status != judgment.StatusFailing || len(v.Unproved) != 1 || v.Unproved[0].Link != want || v.Calls.Failed != 2 {
		t.Fatalf("no call of the planner has succeeded, and the verdict is %v", v)
	}
	call(next("planner", "booker"))
	fail(next("planner", "booker"))
	if v := verdict(); v.Status != judgment.StatusNoViolation || v.Calls.Failed != 3 || v.Calls.Made != int(seq) {
		t.Fatalf("one call of the planner has succeeded, and the verdict is %v", v)
	}
	const late = 10_001 // more than are told apart
	for i := range late {
		fail(next(fmt.Sprintf("late%d", i), "booker"))
	}
	if v := verdict(); v.Status != judgment.StatusFailing || v.Calls.Failed != late+3 || len(v.Unproved) != late {
		t.Fatalf("%d clients had no success, and the verdict is %s of %d links", late, v.Status, len(v.Unproved))
	}
	for i := range late {
		call(next(fmt.Sprintf("late%d", i), "booker"))
	}
	if v := verdict(); v.Status == judgment.StatusClean {
		t.Fatal("it cannot be known which clients had no success, and the verdict is clean")
	}
}
