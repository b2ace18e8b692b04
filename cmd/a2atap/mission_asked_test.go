package main

import (
	"crypto/x509"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/ca"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

// What is asked for a row is not an empty word: an agent that is right in the row's own dialect passes it. The rows of
// the first suite are asked of the agent from before 0.1, those of the acceptance suite of its three agents.
func TestMissionIsAsked(t *testing.T) {
	t.Parallel()
	passed := make(map[string]bool)
	authority := must.Get(ca.Open(t.TempDir()))(t)
	certificate := must.Get(authority.Leaf("127.0.0.1"))(t)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	note := func(suite, url string, o client.Options) {
		scenarios := must.Get(scenarios.Suite(suite))(t)
		report, err := probe.Run(t.Context(), url, probe.Options{
			Scenarios: scenarios, Client: o, Parallel: 4, Timeout: 20 * time.Second,
			Webhook: webhook.Options{Certificate: certificate},
		})
		must.Do(t, err)
		for _, r := range report.Results {
			if r.Bad() {
				t.Errorf("%s: %s\n%s\n%s", r.Name, r.Message, r.Request, r.Answer)
			}
			for _, tag := range r.Scenario.Tags {
				passed[tag] = passed[tag] || r.Status == probe.Pass
			}
		}
	}
	note(scenarios.ProtocolSuite, missionAgents(t, nil, refagent.Options{
		Auth: &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "t0ken"}, Push: true, WebhookRoots: roots,
	}, "legacy"), client.Options{Token: "t0ken"})
	note(scenarios.ProtocolSuite, missionAgents(t, nil, refagent.Options{
		Auth: &refagent.Credentials{Scheme: refagent.APIKeyAuth, Header: "X-Key", Secret: "k3y"},
	}, "legacy"), client.Options{Header: http.Header{"X-Key": {"k3y"}}})
	asOAuth := strings.NewReplacer(`{"schemes":["bearer"]}`,
		`{"schemes":["oauth2"],"credentials":{"oauth2":{"tokenUrl":"https://idp.example/token"}}}`)
	note(scenarios.ProtocolSuite, missionAgents(t, asOAuth, refagent.Options{
		Auth: &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "t0ken"},
	}, "legacy"), client.Options{Token: "t0ken"})
	note(scenarios.AcceptanceSuite, missionAgents(t, nil, refagent.Options{}, "echo", "spec", "spec03"), client.Options{})
	for _, row := range missionTable(missionPage(t)) {
		if row.asked() && !passed[row.id] {
			t.Errorf("%s is asked, and nobody passes it", row.id)
		}
	}
}

// missionAgents serves agents at one address until the test ends, and returns that. Their card is rewritten if there is
// something to write it with.
func missionAgents(t *testing.T, card *strings.Replacer, o refagent.Options, names ...string) string {
	t.Helper()
	o.StepTime = 25 * time.Millisecond
	agents := make([]*refagent.Agent, 0, len(names))
	for _, name := range names {
		a := must.Get(refagent.New(name, o))(t)
		agents = append(agents, a)
	}
	handler := refagent.Mux(agents...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if card == nil || !strings.Contains(r.URL.Path, ".well-known") {
			handler.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		card.WriteString(w, answer.Body.String()) //nolint:errcheck // who asks sees what is missing
	}))
	t.Cleanup(func() {
		server.Close()
		for _, a := range agents {
			a.Close()
		}
	})
	return server.URL
}
