package probe_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// An agent whose card says nothing of where it is gets asked at its URL, in what it speaks and nothing else. The card is
// what fails; the rest says that there is none, or passes.
func TestCardOfNoUse(t *testing.T) {
	t.Parallel()
	spoken := map[string][]string{
		"echo": {"jsonrpc", "rest"}, "spec": {"jsonrpc", "rest"}, "spec03": {"v03"}, "spec03-rest": {"v03-rest"},
		"spec03-proto": {"v03-rest"}, "spec02": {"v03"}, "spec01": {"v01"}, "legacy": {"legacy"},
	}
	for what, broken := range map[string]agenttest.Breaker{
		"no card": agenttest.Saying(agenttest.Card, http.StatusNotFound, "no"),
		"a page":  agenttest.Saying(agenttest.Card, http.StatusOK, "<html>"),
		"no url": agenttest.OnCard(func(card map[string]any) {
			for _, member := range []string{"url", "supportedInterfaces", "additionalInterfaces"} {
				delete(card, member)
			}
		}),
	} {
		for _, name := range refagent.Names() {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				at := agenttest.Start(t, name, refagent.Options{StepTime: 2 * time.Millisecond}, broken)
				report := ask(t, at, probe.Options{Scenarios: suite(t), Timeout: 20 * time.Second, Parallel: 4})
				passed := map[string]int{}
				for _, r := range report.Results {
					binding, _, named := strings.Cut(r.Test, "/")
					switch {
					case r.Bad() && r.Scenario.Category != analysis.AgentCard:
						t.Errorf("%s: %s\n%s\n%s", r.Test, r.Message, r.Request, r.Answer)
					case named && r.Status == probe.Pass:
						passed[binding]++
					case report.Card == nil && r.Status == probe.Skipped && strings.HasPrefix(r.Message, "the card "):
						t.Errorf("%s: %s, and there is none", r.Test, r.Message)
					}
					if named && !slices.Contains(spoken[name], binding) {
						t.Errorf("asked %s, which is not spoken", r.Test)
					}
				}
				for _, binding := range spoken[name] {
					if passed[binding] < 10 {
						t.Errorf("%d passed on %s; notes %q", passed[binding], binding, report.Notes)
					}
				}
				if level, reason := report.Level(); level != probe.NonConformant || !strings.Contains(reason, "card") {
					t.Errorf("level %s: %s", level, reason)
				}
			})
		}
	}
}
