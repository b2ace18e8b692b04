package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// ask runs all scenarios with the options.
func ask(t *testing.T, url string, o probe.Options) *probe.Report {
	t.Helper()
	o.Scenarios, o.Parallel, o.Timeout = suite(t), 4, 20*time.Second
	return must.Get(probe.Run(t.Context(), url, o))(t)
}

func TestKeepChoosesCases(t *testing.T) {
	t.Parallel()
	url := agenttest.Start(t, "spec", refagent.Options{StepTime: 5 * time.Millisecond})
	cases := -1
	report := ask(t, url, probe.Options{
		Keep:    func(_ *probe.Scenario, test string) bool { return strings.HasPrefix(test, "rest/") },
		OnCases: func(n int) { cases = n },
	})
	if len(report.Results) == 0 || cases != len(report.Results) {
		t.Errorf("%d results of %d cases", len(report.Results), cases)
	}
	for _, r := range report.Results {
		expect.Equal(t, fmt.Sprintf("%s was asked", r.Name), client.REST10, r.Protocol)
	}
}

func TestVersionsChooseInterfaces(t *testing.T) {
	t.Parallel()
	url := agenttest.Start(t, "spec02", refagent.Options{StepTime: 5 * time.Millisecond})
	if report := ask(t, url, probe.Options{Versions: []string{"0.2"}}); len(report.Notes) != 0 {
		t.Errorf("notes are %q", report.Notes)
	}
	report := ask(t, url, probe.Options{Versions: []string{"0.3"}})
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "it was not selected") {
		t.Errorf("notes are %q", report.Notes)
	}
	for _, r := range report.Results {
		if r.Protocol != (client.Protocol{}) {
			t.Errorf("%s was asked", r.Name)
		}
	}
}

// Credentials go only to the given address, whatever the card says.
func TestCredentialsStay(t *testing.T) {
	t.Parallel()
	var asked, known atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if strings.Contains(r.Header.Get("Authorization")+r.Header.Get("X-Key"), "secret") {
			known.Add(1)
		}
	}))
	defer elsewhere.Close()
	url := agenttest.Start(t, "spec", refagent.Options{StepTime: 5 * time.Millisecond},
		agenttest.OnCard(func(card map[string]any) {
			card["supportedInterfaces"].([]any)[1].(map[string]any)["url"] = elsewhere.URL
		}))
	report := ask(t, url, probe.Options{
		Client: client.Options{Token: "secret", Header: http.Header{"X-Key": {"secret"}}},
		Second: &client.Options{Token: "another secret"},
	})
	if asked.Load() == 0 || known.Load() > 0 {
		t.Errorf("asked %d times elsewhere, %d times with credentials", asked.Load(), known.Load())
	}
	if !slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, "tested without your credentials") }) {
		t.Errorf("notes %q", report.Notes)
	}
	ask(t, url, probe.Options{Client: client.Options{Token: "secret", CredentialsTo: []string{elsewhere.URL}}})
	if known.Load() == 0 {
		t.Error("an address that was named got no credentials")
	}
}

// Without a card, the named interface is tested, and no case about the card runs.
func TestNoCard(t *testing.T) {
	t.Parallel()
	url := agenttest.Start(t, "spec", refagent.Options{StepTime: 5 * time.Millisecond})
	memory := capture.NewMemory(capture.Info{})
	report := ask(t, url, probe.Options{NoCard: true, Fallback: client.JSONRPC10, Sink: memory, Name: "booker"})
	passed := 0
	for _, r := range report.Results {
		if r.Bad() {
			t.Errorf("%s: %s", r.Name, r.Message)
		}
		if r.Status == probe.Pass {
			passed++
		}
		if r.Name == "card" && r.Status != probe.Skipped {
			t.Errorf("card is %s", r.Status)
		}
	}
	if passed == 0 || report.NoCard == nil {
		t.Errorf("%d passed, no card since %v", passed, report.NoCard)
	}
	for x, err := range memory.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		if x.Agent.Name != "booker" || strings.Contains(string(x.Request.Head), "well-known") {
			t.Errorf("exchange %d with %s: %s", x.Seq, x.Agent.Name, x.Request.Head)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	// The port of a client has no listener, and no other process can listen there.
	client := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer client.Close()
	for _, noCard := range []bool{false, true} {
		_, err := probe.Run(t.Context(), "http://"+client.LocalAddr().String(), probe.Options{NoCard: noCard, Wait: time.Millisecond})
		expect.ErrorHas(t, fmt.Sprintf("no card %v", noCard), "--wait", err)
	}
}

func TestSkillOfTheCard(t *testing.T) {
	t.Parallel()
	url := agenttest.Start(t, "spec", refagent.Options{StepTime: 5 * time.Millisecond})
	_, err := probe.Run(context.Background(), url, probe.Options{Skills: []string{"fly"}})
	if !errors.Is(err, probe.ErrSkill) || !strings.Contains(err.Error(), "task-lifecycle") {
		t.Errorf("error %v", err)
	}
}
