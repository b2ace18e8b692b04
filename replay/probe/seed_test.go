package probe_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/replay/client"
	"a2atap/replay/client/auth"
	"a2atap/replay/probe"
)

const seedToken = "seed-token"

// start serves the agent and returns its URL.
func (s *seedServer) start(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	server.Start()
	t.Cleanup(func() {
		s.close()
		server.Close()
	})
	return s.url
}

// askSeed asks a server of the oldest dialect everything that it can be asked.
func askSeed(t *testing.T, s *seedServer, timeout time.Duration) *probe.Report {
	t.Helper()
	o := probe.Options{Scenarios: protocolSuite(t), Parallel: 4, Timeout: timeout}
	if s.token != "" {
		o.Client = client.Options{Authorize: auth.Bearer(s.token)}
	}
	report, err := probe.Run(context.Background(), s.start(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func protocolSuite(t *testing.T) []*probe.Scenario {
	t.Helper()
	list, err := probe.Suite(probe.ProtocolSuite)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A server that somebody else could have written from the same description passes, open and guarded.
func TestSeedServerPasses(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", seedToken} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			s := newSeedServer("")
			s.token = token
			report := askSeed(t, s, time.Minute)
			if n := report.Count(probe.Pass); n < 30 {
				t.Errorf("only %d cases passed", n)
			}
			for _, r := range report.Results {
				if r.Bad() || r.Status == probe.Unproved {
					t.Errorf("%s %s: %s\n%s\n%s", r.Status, r.Test, r.Message, r.Request, r.Answer)
				}
			}
		})
	}
}

// seedFaults are the server's faults, each with the row that fails for it.
var seedFaults = []struct{ fault, row string }{
	{"no-name", "S0-1.2a"},
	{"no-description", "S0-1.2b"},
	{"no-skills", "S0-1.2d"},
	{"no-skill-id", "S0-1.3a"},
	{"no-skill-name", "S0-1.3b"},
	{"no-skill-text", "S0-1.3c"},
	{"no-input-modes", "S0-1.3d"},
	{"no-output-modes", "S0-1.3e"},
	{"no-token-url", "S0-1.4a"},
	{"no-key-header", "S0-1.4b"},
	{"capability-string", "S0-1.5"},
	{"never-ends", "S0-2.2"},
	{"fails", "S0-2.2"},
	{"ignores-cancel", "S0-2.3"},
	{"short-history", "S0-2.5"},
	{"no-stream", "S0-3.2"},
	{"starts-late", "S0-3.4a"},
	{"other-event", "S0-3.4b"},
	{"no-final", "S0-3.4c"},
	{"goes-on", "S0-3.4d"},
	{"forgets-left", "S0-3.5a"},
	{"stays-open", "S0-3.8"},
	{"unknown-method", "S0-4.1"},
	{"invalid-request", "S0-4.2"},
	{"finds-all", "S0-4.3"},
	{"cancels-completed", "S0-4.4"},
	{"open", "S0-4.5"},
	{"guarded-card", "S0-4.6"},
}

// With each of its faults the row fails that the fault is about, and no other.
func TestSeedServerFaults(t *testing.T) {
	t.Parallel()
	for _, f := range seedFaults {
		t.Run(f.fault, func(t *testing.T) {
			t.Parallel()
			s := newSeedServer(f.fault)
			if f.fault == "open" || f.fault == "guarded-card" {
				s.token = seedToken
			}
			var rows []string
			for _, r := range askSeed(t, s, 3*time.Second).Results {
				if !r.Bad() {
					continue
				}
				rows = append(rows, rowOf(r.Scenario, f.row))
				t.Logf("%s: %s", r.Test, r.Message)
			}
			slices.Sort(rows)
			if diff := cmp.Diff([]string{f.row}, slices.Compact(rows)); diff != "" {
				t.Errorf("rows that fail (-want +got):\n%s", diff)
			}
		})
	}
}

// rowOf returns the row if the scenario is about it, else the scenario's name.
func rowOf(s *probe.Scenario, row string) string {
	if slices.Contains(s.Tags, row) {
		return row
	}
	return s.ID
}
