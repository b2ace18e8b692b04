package replay_test

import (
	"fmt"
	"testing"

	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/compare"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
	"a2atap/replay/report"
)

// If an agent no longer creates a task, a task of another client in its list is not used instead: the replay would
// cancel that client's task.
func TestReplayLeavesOtherTasksAlone(t *testing.T) {
	t.Parallel()
	const card = `{
  "name": "Booker", "description": "Books.", "version": "1", "capabilities": {"streaming": true},
  "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
  "skills": [{"id": "book", "name": "book", "description": "Books", "tags": [%q]},
    {"id": "ask", "name": "ask", "description": "Asks back", "tags": ["multi-turn"]}]
}`
	agentThat := func(does string) string {
		return agenttest.Start(t, "spec", refagent.Options{Card: fmt.Appendf(nil, card, does)})
	}
	send := func(v *client.Result, err error) *client.Result { return must.Get(v, err)(t) }
	src := record(t, agentThat("multi-turn"), func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC10, client.Options{})
		task := send(c.Send(t.Context(), client.Text("book a seat"), client.SendOptions{})).Task
		must.Get(c.List(t.Context(), client.ListOptions{}))(t)
		must.Get(c.Cancel(t.Context(), task.ID, nil))(t)
	})
	to := agentThat("message-only")
	other := agenttest.Connect(t, to, client.JSONRPC10, client.Options{})
	theirs := send(other.Send(t.Context(), client.Text("ask me"), client.SendOptions{})).Task
	r := play(t, src, to, replay.Options{})
	if r.LeftOut != 1 || r.Lines[3].Status != report.LeftOut || r.Lines[3].Lacks != 2 {
		t.Errorf("%s: %+v; want the cancel left out", r.Verdict(), r.Lines)
	}
	if task := must.Get(other.Get(t.Context(), theirs.ID, nil))(t); task.Status.State != client.InputRequired {
		t.Errorf("the task of somebody else is %s now", task.Status.State)
	}
	causes := r.Causes()
	if len(causes) != 1 || len(causes[0].NotSent) != 1 || causes[0].Differences[0].Kind != compare.DifferentOutcome {
		t.Errorf("%s: causes %+v", r.Verdict(), causes)
	}
}
