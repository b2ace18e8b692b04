package probe_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// S0-1.3d, S0-1.3e, K4: a card from before 0.1 without modes of a skill is recognized as one from before 0.1, and
// only the modes fail.
func TestEarlyCardWithoutModes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		lacks  []string
		skills int // number of skills without modes; 0 for all
		also   []string
	}{
		{"one skill without input modes", []string{"inputModes"}, 1, nil},
		{"one skill without output modes", []string{"outputModes"}, 1, nil},
		{"one skill without modes", []string{"inputModes", "outputModes"}, 1, nil},
		{"no skill has modes", []string{"inputModes", "outputModes"}, 0, nil},
		{"no skill has modes, no history", []string{"inputModes", "outputModes"}, 0, []string{"stateTransitionHistory"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			broken := agenttest.OnCard(func(card map[string]any) {
				for i, skill := range card["skills"].([]any) {
					for _, member := range tt.lacks {
						if tt.skills == 0 || i < tt.skills {
							delete(skill.(map[string]any), member)
						}
					}
				}
				for _, member := range tt.also {
					delete(card["capabilities"].(map[string]any), member)
				}
			})
			at := agenttest.Start(t, "legacy", refagent.Options{StepTime: 2 * time.Millisecond}, broken)
			want := map[string]string{"inputModes": "skill-input-modes", "outputModes": "skill-output-modes"}
			failed := map[string]bool{}
			for _, r := range ask(t, at, probe.Options{}).Results {
				if r.Protocol != (client.Protocol{}) && r.Protocol != client.Early {
					t.Errorf("asked %s", r.Name)
				}
				if !r.Bad() {
					continue
				}
				failed[r.Name] = true
				if r.Severity() != analysis.Error || r.Name != "skill-input-modes" && r.Name != "skill-output-modes" {
					t.Errorf("%s fails: %s", r.Name, r.Message)
				}
			}
			for _, member := range tt.lacks {
				if !failed[want[member]] {
					t.Errorf("%s does not fail", want[member])
				}
			}
			expect.Equal(t, "tests that fail", len(tt.lacks), len(failed))
		})
	}
}

// S0-1.7: an agent whose card has no address is tested at its URL, only with the protocols that it supports. The card
// fails; other cases report the missing card, or pass. Requests that detect the protocol are neither recorded nor
// counted as the agent's faults.
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
				kept := capture.NewMemory(capture.Info{})
				report := ask(t, at, probe.Options{Sink: kept})
				asked, cards := map[uint64]bool{}, map[uint64]bool{}
				for _, r := range report.Results {
					for _, n := range r.Exchanges {
						asked[n] = true
					}
				}
				for x, err := range kept.Exchanges(t.Context(), 1) {
					must.Do(t, err)
					line := capture.ParseRequestHead(x.Request.Head).Line
					cards[x.Seq] = strings.Contains(line, "/.well-known/")
					if !asked[x.Seq] && !cards[x.Seq] {
						t.Errorf("%s is recorded, and no test asked it", line)
					}
				}
				for _, f := range must.Get(engine.Run(t.Context(), rules.All, kept, nil))(t).Findings {
					if f.Side == a2a.Agent && f.Severity >= analysis.Warning && !cards[f.Place.Exchange] {
						t.Errorf("a rule finds %s", &f)
					}
				}
				passed := map[string]int{}
				for _, r := range report.Results {
					binding, _, named := strings.Cut(r.Name, "/")
					switch {
					case r.Bad() && r.Scenario.Category != analysis.AgentCard:
						t.Errorf("%s: %s\n%s\n%s", r.Name, r.Message, r.Request, r.Answer)
					case named && r.Status == probe.Pass:
						passed[binding]++
					case report.Card == nil && r.Status == probe.Skipped && strings.HasPrefix(r.Message, "the card "):
						t.Errorf("%s: %s, which does not exist", r.Name, r.Message)
					}
					if named && !slices.Contains(spoken[name], binding) {
						t.Errorf("asked %s, which is not spoken", r.Name)
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

// A server that is no agent is distinguished from an agent that has no card, or requires credentials for it.
func TestNoAgent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		noAgent bool
	}{
		"a web server":    {http.NotFound, true},
		"a page":          {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, true},
		"a locked server": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, false},
		"another JSON-RPC": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			defer server.Close()
			_, err := probe.Run(t.Context(), server.URL, probe.Options{})
			expect.Equal(t, fmt.Sprint("no agent, ", err), test.noAgent, errors.Is(err, probe.ErrNoAgent))
		})
	}
}
