package replay_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/paralleltest"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
	"a2atap/replay/report"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(16)
	debug.SetGCPercent(400) // the heap is small and short-lived: what is saved in memory costs a fifth of the time
	goleak.VerifyTestMain(m)
}

// record records a client's session with an agent through a tap.
func record(t testing.TB, agentURL string, talk func(tapURL string)) *capture.Memory {
	t.Helper()
	return agenttest.RecordOne(t, agenttest.Recording{}, agentURL, talk)
}

// play replays a capture with all rules.
func play(t testing.TB, src capture.Source, to string, o replay.Options) *report.Report {
	t.Helper()
	o.Rules = rules.All
	return must.Get(replay.Run(t.Context(), src, to, o))(t)
}

// wantSame fails the test unless everything was sent and nothing differs.
func wantSame(t testing.TB, r *report.Report) {
	t.Helper()
	if !r.Same() || r.LeftOut > 0 {
		t.Errorf("replay: %s", r.Verdict())
		for _, d := range r.Differences {
			t.Errorf("  %s %+v", d.String(), d.Changes)
		}
		for _, l := range r.Lines {
			expect.Equal(t, fmt.Sprintf("  exchange %d left out", l.Exchange), "", l.Why)
		}
	}
}

// A way is an agent and a protocol for it.
type way struct {
	name     string
	start    func(t testing.TB) string
	protocol client.Protocol
}

func refAgent(name string) func(testing.TB) string {
	return func(t testing.TB) string { return agenttest.Start(t, name, refagent.Options{Push: true}) }
}

var refWays = []way{
	{"spec jsonrpc", refAgent("spec"), client.JSONRPC10},
	{"spec rest", refAgent("spec"), client.REST10},
	{"spec03 jsonrpc", refAgent("spec03"), client.JSONRPC03},
}
