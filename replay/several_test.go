package replay_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
)

// A capture of two agents is replayed to both in one run: an id from one is passed to the other, and each answers
// with a different context.
func TestReplayToSeveralAgents(t *testing.T) {
	t.Parallel()
	var wrong atomic.Int64
	agents := func(task, context string) (first, second string) {
		first = startScript(t, script{"SendMessage": func(s *said) {
			s.result(strings.NewReplacer("task-00000001", task, "ctx-00000001", context).Replace(snapshot("COMPLETED")))
		}})
		second = startScript(t, script{"GetTask": func(s *said) {
			if !strings.Contains(s.body, task) {
				wrong.Add(1)
			}
			s.result(strings.NewReplacer("task-00000001", task, "ctx-00000001", "another-"+context).Replace(
				taskIn("COMPLETED", ""),
			))
		}})
		return first, second
	}
	first, second := agents("task-00000001", "ctx-00000001")
	one := record(t, first, func(tapURL string) { ask(t, tapURL, "SendMessage", hello) })
	two := record(t, second, func(tapURL string) { ask(t, tapURL, "GetTask", theID) })
	x, y := lastExchange(t, one), lastExchange(t, two)
	y.Seq, y.Agent.Name = 2, "planner"
	both := must.Get(capture.ReadMemory(capture.Info{Name: "both"}, capture.Each(x, y)))(t)
	first, second = agents("task-00000009", "ctx-00000009")
	named := map[string]string{"planner": second}
	wantSame(t, within(t, both, first, replay.Options{Agents: named}))
	wantSame(t, within(t, both, "", replay.Options{Agents: map[string]string{"booker": first, "planner": second}}))
	if n := wrong.Load(); n > 0 {
		t.Errorf("the second agent was asked %d times for what the first did not name", n)
	}
	for name, o := range map[string]replay.Options{
		"there is no URL for booker": {Agents: named}, `no requests to an agent "nobody"`: {Agents: map[string]string{"nobody": first}},
	} {
		expect.ErrorHas(t, "error", name, expect.Err(replay.Run(t.Context(), both, "", o)))
	}
}
