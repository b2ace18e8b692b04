package probe_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

func TestFaithfulAgentsPass(t *testing.T) {
	t.Parallel()
	for _, name := range refagent.Names() {
		for _, push := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				url := agenttest.Start(t, name, refagent.Options{Push: push, StepTime: 5 * time.Millisecond})
				report, err := probe.Run(context.Background(), url, probe.Options{
					Scenarios: suite(t), Parallel: 4, Timeout: 20 * time.Second,
				})
				must.Do(t, err)
				for _, r := range report.Results {
					t.Logf("%-12s %-40s %s", r.Status, r.Test, r.Message)
					if r.Bad() {
						t.Errorf("%s: %s\n%s\n%s", r.Test, r.Message, r.Request, r.Answer)
					}
				}
			})
		}
	}
}

func TestGoneAgentIsCritical(t *testing.T) {
	t.Parallel()
	a := must.Get(refagent.New("spec", refagent.Options{}))(t)
	defer a.Close()
	var gone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler) // its port stays taken: else another test might listen there
		}
		a.ServeHTTP(w, r)
	}))
	defer server.Close()
	kill := &probe.Scenario{ID: "kill", Run: func(ctx context.Context, s *probe.Session) error {
		gone.Store(true)
		_, err := s.Client.Get(ctx, s.NewID(), nil)
		return err
	}}
	report, err := probe.Run(context.Background(), server.URL+a.Path(), probe.Options{
		Scenarios: append([]*probe.Scenario{kill}, suite(t)...),
	})
	must.Do(t, err)
	if !report.Gone || report.Results[0].Status != probe.Critical {
		t.Errorf("gone %v, first result %+v", report.Gone, report.Results[0])
	}
	if n := report.Count(probe.Unproved); n == 0 {
		t.Error("what was not asked of an agent that is gone is not inconclusive")
	}
}

// suite returns the scenarios that any agent is asked.
func suite(t *testing.T) []*probe.Scenario {
	t.Helper()
	return must.Get(scenarios.Suite(scenarios.ProtocolSuite))(t)
}
