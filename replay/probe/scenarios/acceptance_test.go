package scenarios_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

// cells is the number of cells in the acceptance suite: 27 tests over two bindings, and four of 0.3.
const cells = 27*2 + 4

// suite returns the scenarios of a suite.
func suite(t *testing.T, name string) []*probe.Scenario {
	t.Helper()
	return must.Get(scenarios.Suite(name))(t)
}

// threeAgents serves the agents of the acceptance suite on one origin, behind a breaker, and returns its URL.
func threeAgents(t *testing.T, o refagent.Options, broken func(http.Handler) http.Handler) string {
	t.Helper()
	if o.StepTime == 0 {
		o.StepTime = 50 * time.Millisecond // long tasks take a second
	}
	fault := o.Fault
	var agents []*refagent.Agent
	for _, name := range []string{"echo", "spec", "spec03"} {
		o.Fault = ""
		if slices.ContainsFunc(refagent.Faults(name), func(f refagent.AgentFault) bool { return f.Slug == fault }) {
			o.Fault = fault
		}
		a := must.Get(refagent.New(name, o))(t)
		agents = append(agents, a)
	}
	handler := refagent.Mux(agents...)
	if broken != nil {
		handler = broken(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		for _, a := range agents {
			a.Close()
		}
	})
	return server.URL
}

// acceptance runs the acceptance suite.
func acceptance(t *testing.T, url string, o probe.Options) *probe.Report {
	t.Helper()
	o.Scenarios = suite(t, scenarios.AcceptanceSuite)
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	return must.Get(probe.Run(context.Background(), url, o))(t)
}

func isCell(r *probe.Result) bool { return slices.Contains(r.Scenario.Tags, "cell") }

func TestAcceptance(t *testing.T) {
	t.Parallel()
	const of1 = 27
	for _, tt := range []struct {
		at       string // below the origin of the agents
		parallel int
		over     []client.Protocol // all if it is empty
		cells    int
	}{
		{"", 1, []client.Protocol{client.JSONRPC10}, of1},
		{"", 1, []client.Protocol{client.REST10}, of1},
		{"", 1, []client.Protocol{client.JSONRPC03}, cells - 2*of1},
		{"", 4, nil, cells},
		{"/", 4, nil, cells},
		{"/spec", 4, nil, cells},
		{"/spec03/", 4, nil, cells},
		{"/echo/.well-known/agent-card.json", 4, nil, cells},
	} {
		t.Run(fmt.Sprintf("%q, %d at a time, %v", tt.at, tt.parallel, tt.over), func(t *testing.T) {
			t.Parallel()
			o := probe.Options{Parallel: tt.parallel, Protocols: tt.over}
			report := acceptance(t, threeAgents(t, refagent.Options{}, nil)+tt.at, o)
			passed := 0
			for _, r := range report.Results {
				if r.Status != probe.Pass {
					t.Errorf("%s %s: %s\n%s\n%s", r.Status, r.Name, r.Message, r.Request, r.Answer)
				} else if isCell(&r) {
					passed++
				}
			}
			if passed != tt.cells {
				t.Errorf("%d of %d cells pass", passed, tt.cells)
			}
		})
	}
}

func TestSuites(t *testing.T) {
	named := 0
	seen := map[string]bool{}
	for _, name := range scenarios.Suites() {
		for _, s := range suite(t, name) {
			if id := name + " " + s.ID; seen[id] {
				t.Errorf("%s is there twice", id)
			} else {
				seen[id] = true
			}
			named++
			if s.Title == "" || s.Fix == "" || s.Category == "" || len(s.Sections) == 0 || len(s.Tags) == 0 {
				t.Errorf("%s lacks its title, fix, category, sections or tags", s.ID)
			}
			if (name == scenarios.AcceptanceSuite) != (s.Agent != "") || s.Agent != "" && len(s.Protocols) == 0 {
				t.Errorf("%s of the suite %s is for the agent %q and the protocols %v", s.ID, name, s.Agent, s.Protocols)
			}
		}
	}
	if all := len(scenarios.All()); named != all {
		t.Errorf("the suites have %d of %d scenarios", named, all)
	}
	usual, err := scenarios.Suite("")
	if err != nil || len(usual) != len(suite(t, scenarios.ProtocolSuite)) {
		t.Errorf("without a name there are %d scenarios, error %v", len(usual), err)
	}
	_, err = scenarios.Suite("protocols")
	if want := `unknown suite "protocols"; use one of protocol, agentbin`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// Each of the 31 tests exists under its row, in its group, for its bindings.
func TestAcceptanceRows(t *testing.T) {
	groups := []string{
		"discovery", "echo-agent", "spec-agent", "error-handling", "streaming", "multi-turn", "get-task",
		"v03-backward-compatibility",
	}
	names := map[string]bool{}
	for _, s := range suite(t, scenarios.AcceptanceSuite) {
		if !slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(s.Tags, g) }) &&
			!slices.Contains(s.Tags, "wire-format") {
			t.Errorf("%s is in no group", s.ID)
		}
		if !slices.Contains(s.Tags, "acceptance") {
			t.Errorf("%s has no tag acceptance", s.ID)
		}
		if slices.Contains(s.Tags, "cell") {
			names[s.ID] = true
		}
	}
	want := strings.Fields(`agent-card-echo agent-card-spec echo-send-message spec-message-only spec-task-lifecycle
		spec-get-task spec-task-failure spec-data-types spec-streaming spec-multi-turn spec-task-cancel
		spec-cancel-with-metadata spec-list-tasks spec-return-immediately error-task-not-found error-cancel-not-found
		error-cancel-terminal error-send-terminal error-send-invalid-task error-push-not-supported
		error-subscribe-not-found subscribe-to-task stream-message-only stream-task-lifecycle
		multi-turn-context-preserved get-task-with-history get-task-after-failure spec03-agent-card spec03-send-message
		spec03-task-lifecycle spec03-streaming`)
	for i, id := range want {
		if !names[id] {
			t.Errorf("%s is no cell", id)
		}
		row := slices.IndexFunc(scenarios.All(), func(s *probe.Scenario) bool {
			return s.ID == id && s.Agent != "" && slices.Contains(s.Tags, rowOf(i))
		})
		if row < 0 {
			t.Errorf("%s has no tag %s", id, rowOf(i))
		}
	}
	if len(names) != len(want) {
		t.Errorf("%d tests are cells, want %d", len(names), len(want))
	}
}

func rowOf(i int) string { return fmt.Sprintf("S3-%d", i+1) }
