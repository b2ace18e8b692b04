//go:build peers

package probe_test

import (
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// Twenty runs against an agent have the same results, though their cases run in parallel.
func TestTwentyRunsAreOne(t *testing.T) {
	t.Parallel()
	for _, agent := range []struct {
		name string
		push bool
	}{{"spec", true}, {"spec03", false}, {"legacy", false}} {
		t.Run(agent.name, func(t *testing.T) {
			t.Parallel()
			url := agenttest.Start(t, agent.name, refagent.Options{Push: agent.push, StepTime: time.Millisecond})
			var first map[string]probe.Status
			for run := range 20 {
				report := must.Get(probe.Run(t.Context(), url, probe.Options{
					Scenarios: suite(t), Parallel: 4, Timeout: 20 * time.Second,
				}))(t)
				now := make(map[string]probe.Status, len(report.Results))
				for _, r := range report.Results {
					now[r.Name] = r.Status
					if before, known := first[r.Name]; first != nil && (!known || before != r.Status) {
						t.Errorf("run %d: %s is %s, and was %q: %s", run+1, r.Name, r.Status, before, r.Message)
					}
				}
				if first == nil {
					first = now
				}
				if len(now) != len(first) {
					t.Errorf("run %d has %d results, and the first %d", run+1, len(now), len(first))
				}
			}
		})
	}
}
