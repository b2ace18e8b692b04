package replay_test

import (
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// A path such as /v1/tasks/ID is recognized by an earlier recorded card, or by earlier requests to the same
// interface.
func TestReplayOfREST03(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec03-rest", refagent.Options{})
	src := record(t, agent, func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.REST03, client.Options{})
		id := must.Get(c.Send(t.Context(), client.Text("task-lifecycle"), client.SendOptions{}))(t).Task.ID
		must.Get(c.Get(t.Context(), id, nil))(t)
	})
	withoutCard := edited(t, src, func(x *capture.Exchange) {
		if x.Seq == 1 {
			x.Request.Head = []byte("GET /health HTTP/1.1\r\nHost: booker.example\r\n\r\n")
		}
	})
	wantSame(t, play(t, src, agent, replay.Options{}))
	if r := play(t, withoutCard, agent, replay.Options{}); r.Sent != 2 || len(r.Differences) > 0 {
		t.Errorf("without the card: %s %+v", r.Verdict(), r.Lines)
	}
}
