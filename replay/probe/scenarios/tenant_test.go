package scenarios_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/probe/scenarios/internal/binding"
	"a2atap/replay/refagent"
)

func TestTenantScenariosFail(t *testing.T) {
	tenants := []string{"acme", "b c"}
	testWrong(t, binding.Tenants, []wrong{
		{
			name: "the member is not looked at", tenants: tenants, fails: []string{"act-tenant"},
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				return strings.Replace(body, `"tenant":"b c"`, `"member":"b c"`, 1)
			}),
		},
		{
			name: "the path is not looked at", tenants: tenants, fails: []string{"rest/act-tenant"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				r.URL.Path = strings.Replace(r.URL.Path, "/acme/", "/", 1)
				return body
			}),
		},
		{
			name: "tasks of a tenant are not found again", tenants: tenants, fails: []string{"act-tenant"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				if strings.Contains(body, `"GetTask"`) || r.Method == http.MethodGet {
					body = strings.Replace(body, `"tenant":"acme"`, `"tenant":"b c"`, 1)
					r.URL.Path = strings.Replace(r.URL.Path, "/acme/", "/b c/", 1)
				}
				return body
			}),
		},
	})
}

func TestFaithfulAgentWithTenantsPasses(t *testing.T) {
	t.Parallel()
	url := agenttest.Start(t, "spec", refagent.Options{Tenants: []string{"acme", "b c"}, StepTime: 5 * time.Millisecond})
	report := must.Get(probe.Run(t.Context(), url, probe.Options{
		Scenarios: suite(t, scenarios.ProtocolSuite), Parallel: 4, Timeout: 20 * time.Second,
	}))(t)
	passed := 0
	for _, r := range report.Results {
		if r.Bad() {
			t.Errorf("%s: %s\n%s\n%s", r.Name, r.Message, r.Request, r.Answer)
		}
		if r.Scenario.ID == "act-tenant" && r.Status == probe.Pass {
			passed++
		}
	}
	if passed != 2 {
		t.Errorf("act-tenant has passed over %d bindings, want 2", passed)
	}
}
