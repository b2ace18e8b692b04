package scenarios_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

// S0-2.4: an agent with unknown behavior may answer a follow-up with another question, but must not ignore it.
func TestFollowUpIsIgnored(t *testing.T) {
	t.Parallel()
	only := slices.DeleteFunc(scenarios.Basics(), func(s *probe.Scenario) bool { return s.ID != "multi-turn" })
	followUp := agenttest.About(func(r *http.Request, body string) bool {
		return r.Method == http.MethodPost && strings.Contains(body, `"done"`)
	})
	for _, tt := range []struct {
		name   string
		broken func() agenttest.Breaker
		want   probe.Status
	}{
		{"completes", func() agenttest.Breaker { return agenttest.All() }, probe.Pass},
		{"asks again", func() agenttest.Breaker { return agenttest.Asking(followUp, `"done"`, `"more"`) }, probe.Pass},
		{"ignores it", func() agenttest.Breaker { return agenttest.Unmoved(followUp) }, probe.Failed},
	} {
		for _, agent := range []string{"spec", "spec03", "spec03-rest", "spec03-proto", "spec02", "spec01", "legacy"} {
			t.Run(tt.name+"/"+agent, func(t *testing.T) {
				t.Parallel()
				url := agenttest.Start(t, agent, refagent.Options{StepTime: 5 * time.Millisecond}, tt.broken())
				report := must.Get(probe.Run(t.Context(), url, probe.Options{
					Scenarios: only, Timeout: time.Second, Drive: probe.Natural,
					Prompts: map[probe.Behavior]string{probe.AsksBack: "multi-turn start"},
				}))(t)
				if len(report.Results) == 0 {
					t.Error("nothing was asked")
				}
				for _, r := range report.Results {
					expect.Equal(t, r.Name+": "+r.Message, tt.want, r.Status)
				}
			})
		}
	}
}
