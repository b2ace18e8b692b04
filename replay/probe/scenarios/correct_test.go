package scenarios_test

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

var everyLimit = flag.Bool("limits", false, "ask agents that take any number of tasks from 1 to 100, and not only some")

// A correct agent fails no case. This also holds if it requires no credentials, if it gets none or wrong ones, and if
// it accepts few tasks. The cause that blocks cases is reported once.
func TestCorrectAgentsFailNothing(t *testing.T) {
	t.Parallel()
	bearer := &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "let-me-in"}
	key := &refagent.Credentials{Scheme: refagent.APIKeyAuth, Header: "X-API-Key", Secret: "let-me-in"}
	basic := &refagent.Credentials{Scheme: refagent.BasicAuth, Secret: "u:p"}
	token := &refagent.Credentials{Scheme: refagent.OAuth2Auth, Secret: "cli:s3"}
	type world struct {
		name  string
		agent refagent.Options
		probe client.Options
		oauth auth.OAuth // of the agent itself; replaces other credentials
		shut  string     // the one report, if the agent rejects the credentials
	}
	worlds := []world{
		{name: "open"},
		{name: "open, with credentials", probe: client.Options{Authorize: auth.Bearer("agentbin-test-token")}},
		{name: "push", agent: refagent.Options{Push: true}},
		{name: "bearer", agent: refagent.Options{Auth: bearer}, probe: client.Options{Authorize: auth.Bearer("let-me-in")}},
		{name: "bearer, none given", agent: refagent.Options{Auth: bearer}, shut: "credentials are needed"},
		{
			name: "bearer, a wrong one given", agent: refagent.Options{Auth: bearer},
			probe: client.Options{Authorize: auth.Bearer("wrong")}, shut: "the credentials do not give access",
		},
		{name: "key", agent: refagent.Options{Auth: key}, probe: client.Options{Authorize: auth.Header("X-API-Key", "let-me-in")}},
		{name: "key, none given", agent: refagent.Options{Auth: key}, shut: "credentials are needed"},
		{name: "basic", agent: refagent.Options{Auth: basic}, probe: client.Options{Authorize: auth.Basic("u", "p")}},
		{name: "basic, none given", agent: refagent.Options{Auth: basic}, shut: "credentials are needed"},
		{name: "oauth2", agent: refagent.Options{Auth: token}, oauth: auth.OAuth{ClientID: "cli", ClientSecret: "s3"}},
		{name: "oauth2, none given", agent: refagent.Options{Auth: token}, shut: "credentials are needed"},
		{
			name: "push and a key", agent: refagent.Options{Auth: key, Push: true},
			probe: client.Options{Authorize: auth.Header("X-API-Key", "let-me-in")},
		},
	}
	for _, over := range worlds {
		if over.oauth.ClientID == "" {
			over.name += ", over gRPC"
			over.agent.Bindings = []string{"grpc"}
			worlds = append(worlds, over)
		}
	}
	worlds = append(worlds,
		world{name: "every binding", agent: refagent.Options{Bindings: []string{"grpc", "jsonrpc"}, Push: true}},
		world{name: "gRPC, 2 tasks", agent: refagent.Options{Bindings: []string{"grpc"}, MaxTasks: 2}},
	)
	counts := []int{1, 2, 5, 20, 100}
	for n := 1; *everyLimit && n <= 100; n++ {
		if !slices.Contains(counts, n) {
			counts = append(counts, n)
		}
	}
	for _, n := range counts {
		worlds = append(worlds, world{name: analysis.Plural(n, "task"), agent: refagent.Options{MaxTasks: n}})
	}
	for i, world := range worlds {
		speak := refagent.Names()
		if len(world.agent.Bindings) > 0 {
			speak = []string{"echo", "spec", "spec03"}
		}
		for j, name := range speak {
			if !everyCase && (i%2 > 0 || i/2%len(speak) != j) {
				continue
			}
			t.Run(name+" "+world.name, func(t *testing.T) {
				t.Parallel()
				agent := world.agent
				agent.StepTime = 2 * time.Millisecond
				report, findings := askAll(t, name, agent, world.probe, world.oauth)
				for _, r := range report.Results {
					if r.Bad() {
						t.Errorf("%s %s: %s\n%s\n%s", r.Status, r.Name, r.Message, r.Request, r.Answer)
					}
				}
				for _, f := range findings {
					if f.Side == a2a.Agent && f.Severity >= analysis.Warning {
						t.Errorf("a rule finds %s", &f)
					}
				}
				if world.shut == "" {
					return
				}
				told := 0
				for _, note := range report.Notes {
					if strings.Contains(note, world.shut) {
						told++
					}
				}
				if told == 0 || told != len(report.Card.Interfaces) {
					t.Errorf("told %d times: %q", told, report.Notes)
				}
				if level, reason := report.Level(); level != probe.NotDetermined {
					t.Errorf("level %s: %s", level, reason)
				}
			})
		}
	}
}

// askAll runs all scenarios against a reference agent, and checks the traffic with the rules.
func askAll(
	t *testing.T, name string, o refagent.Options, c client.Options, oauth auth.OAuth,
) (*probe.Report, []analysis.Finding) {
	t.Helper()
	a := must.Get(refagent.New(name, o))(t)
	t.Cleanup(a.Close)
	server := agenttest.Serve(a)
	t.Cleanup(server.Close)
	if oauth.ClientID != "" {
		oauth.Agent = server.URL + a.Path()
		c.Authorize = oauth.Method()
	}
	kept := capture.NewMemory(capture.Info{})
	report, err := probe.Run(t.Context(), server.URL+a.Path(), probe.Options{
		Scenarios: suite(t, scenarios.ProtocolSuite), Parallel: 4, Timeout: time.Minute, Sink: kept, Client: c,
	})
	must.Do(t, err)
	return report, must.Get(engine.Run(t.Context(), rules.All, kept, nil))(t).Findings
}
