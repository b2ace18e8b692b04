package scenarios_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
	"a2atap/replay/internal/earlyagent"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
)

const earlyToken = "early-token"

// askEarly probes an agent of the oldest dialect.
func askEarly(t *testing.T, s *earlyagent.Agent, asked []*probe.Scenario, timeout time.Duration) *probe.Report {
	t.Helper()
	o := probe.Options{
		Scenarios: asked, Parallel: 16, Timeout: timeout, Protocols: []client.Protocol{client.Early},
		Prompts: map[probe.Behavior]string{probe.WaitsForCancel: "wait"}, // only its task surely can be canceled
	}
	if s.Token != "" {
		o.Client = client.Options{Authorize: auth.Bearer(s.Token)}
	}
	return must.Get(probe.Run(context.Background(), s.Start(t), o))(t)
}

// A third-party agent written from the same description passes, with and without required credentials.
func TestEarlyAgentPasses(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", earlyToken} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			s := earlyagent.New("")
			s.Token = token
			report := askEarly(t, s, suite(t, scenarios.ProtocolSuite), time.Minute)
			if n := report.Count(probe.Pass); n < 30 {
				t.Errorf("only %d cases passed", n)
			}
			for _, r := range report.Results {
				// The specification does not define how to handle a part of an unknown media type.
				if r.Bad() || r.Status == probe.Unproved && r.Scenario.ID != "act-unknown-media-type" {
					t.Errorf("%s %s: %s\n%s\n%s", r.Status, r.Name, r.Message, r.Request, r.Answer)
				}
			}
		})
	}
}

// earlyFaults are the agent's faults, each with the row that fails. Further rows that then fail test the same
// requirement differently.
var earlyFaults = []struct {
	fault, row string
	also       []string
}{
	{"no-name", "S0-1.2a", nil},
	{"no-description", "S0-1.2b", nil},
	{"no-skills", "S0-1.2d", nil},
	{"no-skill-id", "S0-1.3a", nil},
	{"no-skill-name", "S0-1.3b", nil},
	{"no-skill-text", "S0-1.3c", nil},
	{"no-input-modes", "S0-1.3d", nil},
	{"no-output-modes", "S0-1.3e", nil},
	{"no-token-url", "S0-1.4a", nil},
	{"no-key-header", "S0-1.4b", nil},
	{"capability-string", "S0-1.5", nil},
	{"never-ends", "S0-2.2", []string{"stream-closes"}},
	{"fails", "S0-2.2", nil},
	{"ignores-cancel", "S0-2.3", nil},
	{"short-history", "S0-2.5", nil},
	{"no-stream", "S0-3.2", nil},
	{"starts-late", "S0-3.4a", nil},
	{"other-event", "S0-3.4b", nil},
	{"no-final", "S0-3.4c", nil},
	{"goes-on", "S0-3.4d", nil},
	{"forgets-left", "S0-3.5a", []string{"concurrent-tasks"}},
	{"stays-open", "S0-3.8", nil},
	{"unknown-method", "S0-4.1", nil},
	{"invalid-request", "S0-4.2", []string{"act-invalid-request", "act-notification-silent"}},
	{"finds-all", "S0-4.3", []string{"act-invalid-params"}},
	{"cancels-completed", "S0-4.4", nil},
	{"open", "S0-4.5", []string{"act-auth-required", "act-auth-wrong"}},
	{"guarded-card", "S0-4.6", nil},
}

// Each fault makes only the row fail that is about the fault.
func TestEarlyAgentFaults(t *testing.T) {
	t.Parallel()
	for turn, f := range earlyFaults {
		t.Run(f.fault, func(t *testing.T) {
			t.Parallel()
			s := earlyagent.New(f.fault)
			if slices.Contains([]string{"open", "guarded-card", "no-token-url", "no-key-header"}, f.fault) {
				s.Token = earlyToken
			}
			asked := fewer(suite(t, scenarios.ProtocolSuite), 4, turn, func(s *probe.Scenario) bool {
				return slices.Contains(s.Tags, f.row) || slices.Contains(f.also, s.ID)
			})
			var rows []string
			for _, r := range askEarly(t, s, asked, 3*time.Second).Results {
				if !r.Bad() {
					continue
				}
				rows = append(rows, rowFor(r.Scenario, f.row))
				t.Logf("%s: %s", r.Name, r.Message)
			}
			slices.Sort(rows)
			expect.Same(t, "rows that fail", append([]string{f.row}, f.also...), slices.Compact(rows))
		})
	}
}

// rowFor returns the row if the scenario is about it, else the scenario's name.
func rowFor(s *probe.Scenario, row string) string {
	if slices.Contains(s.Tags, row) {
		return row
	}
	return s.ID
}
