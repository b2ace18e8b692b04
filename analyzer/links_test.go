package analyzer_test

import (
	"fmt"
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/a2a"
)

// Clients that name themselves anew with each request are counted together once they are too many, and so are agents;
// nothing of them is missing in the sums, and whoever was there first keeps a count of its own.
func TestManyLinks(t *testing.T) {
	const many = 1200
	applies := enginetest.Rule("applies", analyzer.AnswerSeen, func(p *analyzer.Pass) { p.Applied() })
	engine := analyzer.NewEngine([]*analyzer.Rule{applies})
	seq := uint64(0)
	call := func(client, agent string) {
		seq++
		s := send{seq, client, agent}
		s.ask(engine)
		s.answer(engine)
	}
	for i := range many {
		call(fmt.Sprintf("client%d", i), "booker")
	}
	call("client0", "booker")
	for i := range many {
		call("client0", fmt.Sprintf("agent%d", i))
	}
	calls := make(map[analyzer.Link]int)
	for _, c := range engine.Calls() {
		calls[c.Link] = c.Succeeded
	}
	applied := make(map[analyzer.Link]int)
	for _, c := range engine.Coverage() {
		applied[c.Link] = c.Applied
	}
	contacts := make(map[analyzer.Link]int)
	for _, a := range engine.Agents() {
		for client, contact := range a.Contacts {
			contacts[analyzer.Link{Client: client, Agent: a.Link}] = contact.Operations[a2a.SendMessage]
		}
	}
	for name, got := range map[string]map[analyzer.Link]int{"calls": calls, "coverage": applied, "contacts": contacts} {
		sum := 0
		for _, n := range got {
			sum += n
		}
		if len(got) != 1002 || sum != int(seq) {
			t.Errorf("%s: %d links with a sum of %d, want 1002 with %d", name, len(got), sum, seq)
		}
		for link, want := range map[analyzer.Link]int{
			{Client: "client0", Agent: "booker"}:                         2,
			{Client: "client999", Agent: "booker"}:                       1,
			{Client: analyzer.OtherClients, Agent: "booker"}:             many - 1000,
			{Client: analyzer.OtherClients, Agent: analyzer.OtherAgents}: many,
		} {
			if got[link] != want {
				t.Errorf("%s: %d on %v, want %d", name, got[link], link, want)
			}
		}
	}
}

// A finding of somebody who is counted with others is counted with them too.
func TestCounted(t *testing.T) {
	own, gone := analyzer.Link{Client: "a", Agent: "booker"}, analyzer.Link{Client: "z", Agent: "booker"}
	far := analyzer.Link{Client: "z", Agent: "planner"}
	others := analyzer.Link{Client: analyzer.OtherClients, Agent: "booker"}
	all := analyzer.Link{Client: analyzer.OtherClients, Agent: analyzer.OtherAgents}
	few := (&analyzer.Result{Coverage: []analyzer.Coverage{{Link: own}}}).Counted()
	many := (&analyzer.Result{Coverage: []analyzer.Coverage{{Link: own}, {Link: others}}, Calls: []analyzer.Calls{{Link: all}}}).
		Counted()
	for _, test := range []struct {
		counted    func(analyzer.Link) analyzer.Link
		link, want analyzer.Link
	}{
		{few, own, own},
		{few, gone, gone},
		{many, own, own},
		{many, gone, others},
		{many, far, all},
	} {
		if got := test.counted(test.link); got != test.want {
			t.Errorf("%v is counted as %v, want %v", test.link, got, test.want)
		}
	}
}
