package scenarios_test

import (
	"crypto/x509"
	"fmt"
	"testing"
	"time"

	"a2atap/proxy/ca"
	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

// S0-5.1, S0-5.2a: each faultless reference agent is *full*, in every version and binding, with and without push
// notifications.
func TestReferenceAgentsAreFull(t *testing.T) {
	t.Parallel()
	type setup struct {
		agent    string
		bindings []string
	}
	authority := must.Get(ca.Open(t.TempDir()))(t)
	certificate := must.Get(authority.Leaf("127.0.0.1"))(t)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	var setups []setup
	for _, name := range refagent.Names() {
		setups = append(setups, setup{name, nil})
	}
	for _, name := range []string{"echo", "spec", "spec03"} {
		setups = append(setups, setup{name, []string{"grpc"}})
	}
	for _, s := range setups {
		for _, push := range []bool{false, true} {
			if push && s.agent == "echo" {
				continue // it makes no tasks, so it has no notifications
			}
			t.Run(fmt.Sprint(s.agent, s.bindings, push), func(t *testing.T) {
				t.Parallel()
				url := agenttest.Start(t, s.agent, refagent.Options{
					StepTime: 20 * time.Millisecond, Bindings: s.bindings, Push: push, WebhookRoots: roots,
				})
				o := probe.Options{Scenarios: suite(t, scenarios.ProtocolSuite), Parallel: 4, Timeout: time.Minute}
				if s.agent == "legacy" {
					o.Webhook.Certificate = certificate // before 0.1 notifications require https
				}
				report := must.Get(probe.Run(t.Context(), url, o))(t)
				if level, reason := report.Level(); level != probe.Full {
					t.Errorf("level %s: %s", level, reason)
					for _, r := range report.Results {
						if r.Status == probe.Unproved || r.Bad() {
							t.Errorf("%s %s: %s", r.Status, r.Name, r.Message)
						}
					}
				}
			})
		}
	}
}
