package probe_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
					t.Logf("%-12s %-40s %s", r.Status, r.Name, r.Message)
					if r.Bad() {
						t.Errorf("%s: %s\n%s\n%s", r.Name, r.Message, r.Request, r.Answer)
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

// S0-4.7: a crash is attributed to the case that caused it, and all later cases are inconclusive.
func TestCrashIsAttributed(t *testing.T) {
	t.Parallel()
	notRPC := agenttest.Holding(`"not":`)
	for _, tt := range []struct {
		name  string
		agent string
		of    agenttest.About
		// The agent may answer the request that crashes it, and the given number of further ones.
		answers int32
		want    string
	}{
		{"no answer", "legacy", notRPC, 0, "legacy/not-json-rpc"},
		{"no answer in 1.0", "spec", notRPC, 0, "jsonrpc/not-json-rpc"},
		{"dies after its answer", "legacy", notRPC, 1, "legacy/not-json-rpc"},
		{"dies a little later", "legacy", notRPC, 2, "legacy/not-json-rpc"},
		{"unknown method", "spec03", agenttest.Holding("tasks/nonexistent"), 1, "v03/error-unknown-method"},
		{"first message", "spec02", agenttest.RPC("message/send"), 1, "v02/send"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := must.Get(refagent.New(tt.agent, refagent.Options{StepTime: time.Millisecond}))(t)
			defer a.Close()
			var dying atomic.Bool
			var left atomic.Int32
			left.Store(tt.answers)
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body := agenttest.Body(r); tt.of(r, body) {
					dying.Store(true)
				}
				if !dying.Load() {
					a.ServeHTTP(w, r)
					return
				}
				n := left.Add(-1)
				if n <= 0 {
					server.Listener.Close() //nolint:errcheck // it may be closed already
				}
				if n < 0 {
					panic(http.ErrAbortHandler)
				}
				a.ServeHTTP(w, r)
			}))
			defer server.Close()
			// A connection keeps the port taken, so that no other test listens there.
			defer must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t).Close()
			report := must.Get(probe.Run(t.Context(), server.URL+a.Path(), probe.Options{
				Scenarios: scenarios.Basics(), Parallel: 4, Timeout: 20 * time.Second,
			}))(t)
			var critical []string
			for _, r := range report.Results {
				if r.Status == probe.Critical {
					critical = append(critical, r.Name)
					if r.Request == "" || !strings.Contains(r.Message, "stopped answering") {
						t.Errorf("%+v", r)
					}
				}
			}
			if !report.Gone || !slices.Equal(critical, []string{tt.want}) {
				t.Errorf("critical: %q; want %s", critical, tt.want)
			}
		})
	}
}

// suite returns the scenarios for every agent.
func suite(t *testing.T) []*probe.Scenario {
	t.Helper()
	return must.Get(scenarios.Suite(scenarios.ProtocolSuite))(t)
}
