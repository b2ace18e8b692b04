package probe_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// A task has a minute, or the given timeout; then the report names the task, its state and the time.
func TestTaskThatTakesTooLong(t *testing.T) {
	t.Parallel()
	url := agenttest.Start(t, "spec", refagent.Options{CancelWait: time.Hour, StepTime: 5 * time.Millisecond})
	var id string
	var within time.Duration
	wait := &probe.Scenario{
		ID: "wait", Protocols: []client.Protocol{client.JSONRPC10},
		Run: func(ctx context.Context, s *probe.Session) error {
			within = s.Timeout
			task, err := s.Task(ctx, probe.WaitsForCancel, client.SendOptions{ReturnImmediately: true})
			if err != nil {
				return err
			}
			if id = task.ID; s.Timeout == time.Minute {
				return nil
			}
			_, err = s.Await(ctx, task.ID, client.State.Terminal)
			return err
		},
	}
	for limit, want := range map[time.Duration]probe.Status{0: probe.Pass, 20 * time.Millisecond: probe.Failed} {
		report := must.Get(probe.Run(t.Context(), url, probe.Options{
			Scenarios: []*probe.Scenario{wait}, Timeout: limit, Client: client.Options{Timeout: 30 * time.Second},
		}))(t)
		r := report.Results[0]
		if r.Status != want || limit == 0 && within != time.Minute || limit > 0 && within != limit {
			t.Errorf("limit %v: %s within %v, want %s", limit, r.Status, within, want)
		}
		if limit == 0 {
			continue
		}
		var ms int
		_, after, _ := strings.Cut(r.Seen, "task "+id+" still working after ")
		if n, err := fmt.Sscanf(after, "%d ms", &ms); n != 1 || err != nil || ms < int(limit.Milliseconds()) {
			t.Errorf("seen %q, want the task %s, its state and the time", r.Seen, id)
		}
	}
}
