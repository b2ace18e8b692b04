package scenarios_test

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/ca"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

// brokenTests are agents with one fault each, and the S0 scenarios that find it: these fail, and no others.
var brokenTests = []struct {
	name   string
	agent  string
	fault  string            // of the agent
	broken agenttest.Breaker // in front of it
	agents refagent.Options  // further options
	probes probe.Options
	only   []string // scenarios to run; empty for all of S0
	want   string   // ids of the scenarios that fail
}{
	{name: "no card", agent: "spec02", want: "card", broken: agenttest.Saying(agenttest.Card, http.StatusNotFound, "")},
	{name: "another card each time", agent: "spec", fault: "card-stable", want: "card-read-again"},
	{name: "a card that is always new", agent: "spec", fault: "card-not-modified", want: "card-not-changed"},
	{name: "a binding that the card lacks", agent: "echo", fault: "card-capability-vs-traffic", want: "card-bindings"},
	{
		name: "notifications without credentials", agent: "spec", fault: "hook-auth", agents: refagent.Options{Push: true},
		only: []string{"push-auth"}, want: "push-auth",
	},
	{
		name: "HTTP 500 for a cancellation", agent: "spec", want: "task-cancel", only: []string{"task-cancel"},
		broken: agenttest.Failing(agenttest.RPC("CancelTask"), http.StatusInternalServerError),
	},
	{
		name: "HTTP 500 for a cancellation over HTTP+JSON", agent: "spec", want: "task-cancel", only: []string{"task-cancel"},
		broken: agenttest.Failing(agenttest.Path(http.MethodPost, ":cancel$"), http.StatusInternalServerError),
	},
	{name: "no name", agent: "legacy", broken: without("name"), want: "card-name"},
	{name: "empty name", agent: "spec", broken: cardWith("name", " "), want: "card-name"},
	{name: "no description", agent: "legacy", broken: without("description"), want: "card-description"},
	{name: "no description in 1.0", agent: "spec", broken: without("description"), want: "card-description"},
	{name: "no url", agent: "legacy", broken: without("url"), want: "card-url"},
	{name: "no interfaces", agent: "spec", broken: cardWith("supportedInterfaces", []any{}), want: "card-url"},
	{name: "no skills", agent: "spec02", broken: without("skills"), want: "card-skills"},
	{name: "no skill id", agent: "legacy", broken: skillWithout("id"), want: "skill-id"},
	{name: "no skill name", agent: "legacy", broken: skillWithout("name"), want: "skill-name"},
	{name: "no skill description", agent: "legacy", broken: skillWithout("description"), want: "skill-description"},
	{
		name: "no input modes", agent: "legacy", broken: skillWithout("inputModes"),
		probes: probe.Options{Protocols: []client.Protocol{client.Early}}, want: "skill-input-modes",
	},
	{
		name: "no output modes", agent: "legacy", broken: skillWithout("outputModes"),
		probes: probe.Options{Protocols: []client.Protocol{client.Early}}, want: "skill-output-modes",
	},
	{name: "no modes at all in 1.0", agent: "spec", broken: without("defaultOutputModes"), want: "skill-output-modes"},
	{
		name: "oauth2 without token URL", agent: "legacy", want: "card-oauth2-token-url",
		broken: cardWith("authentication", map[string]any{
			"schemes": []any{"oauth2", "none"}, "credentials": map[string]any{"oauth2": map[string]any{}},
		}),
	},
	{
		name: "API key without header", agent: "legacy", want: "card-api-key-name",
		broken: cardWith("authentication", map[string]any{
			"schemes":     []any{"apiKey", "none"},
			"credentials": map[string]any{},
		}),
	},
	{
		name: "oauth2 without token URL in 1.0", agent: "spec", want: "card-oauth2-token-url",
		broken: cardWith("securitySchemes", map[string]any{"o": map[string]any{
			"oauth2SecurityScheme": map[string]any{"flows": map[string]any{"clientCredentials": map[string]any{}}},
		}}),
	},
	{
		name: "API key without place in 0.3", agent: "spec03", want: "card-api-key-name",
		broken: cardWith("securitySchemes", map[string]any{"k": map[string]any{"type": "apiKey", "name": "X"}}),
	},
	{
		name: "capability in words", agent: "legacy", want: "card-capability-flags",
		broken: cardWith("capabilities", map[string]any{"streaming": "true", "stateTransitionHistory": true}),
	},
	{
		name: "capability as number", agent: "spec", want: "card-capability-flags",
		broken: cardWith("capabilities", map[string]any{"streaming": 1}),
	},
	{
		name: "S4-6.3a: card for members", agent: "legacy", broken: cardForMembers, want: "card-public",
		agents: refagent.Options{Auth: bearer}, probes: probe.Options{Client: client.Options{Token: bearer.Secret}},
	},
	{
		name: "S0-4.6: the card is answered 401, and no credentials are known", agent: "legacy", want: "card-public",
		broken: agenttest.Failing(agenttest.Card, http.StatusUnauthorized), only: []string{"card", "card-public", "send"},
	},
	{
		name: "S0-4.6: the card is answered 403, and no credentials are known", agent: "spec01", want: "card-public",
		broken: agenttest.Failing(agenttest.Card, http.StatusForbidden), only: []string{"card", "card-public", "send"},
	},
	{
		name: "unknown state", agent: "spec", want: "send",
		broken: agenttest.Changing(agenttest.RPC("SendMessage"), `TASK_STATE_COMPLETED`, `TASK_STATE_PAUSED`),
		only:   []string{"send"},
	},
	{
		name: "another id", agent: "legacy", want: "send",
		broken: agenttest.Changing(agenttest.RPC("tasks/send"), `"id":"test-`, `"id":"text-`), only: []string{"send"},
	},
	{
		name: "fails", agent: "legacy", want: "task-completes",
		broken: agenttest.Asking(agenttest.RPC("tasks/send"), "task-lifecycle", "task-failure"),
	},
	{
		name: "fails in 1.0", agent: "spec", want: "send task-completes",
		broken: agenttest.Asking(agenttest.RPC("SendMessage"), "task-lifecycle", "task-failure"),
		probes: probe.Options{Protocols: []client.Protocol{client.JSONRPC10}},
	},
	{
		name: "never completes", agent: "spec03", want: "task-completes", only: []string{"task-completes"},
		broken: agenttest.Asking(agenttest.RPC("message/send"), "task-lifecycle", "task-cancel"), probes: probe.Options{Timeout: time.Second},
	},
	{
		name: "not canceled", agent: "legacy", want: "task-cancel cancel-completed-task",
		broken: agenttest.Asking(agenttest.RPC("tasks/cancel"), "tasks/cancel", "tasks/get"),
		agents: refagent.Options{CancelWait: 100 * time.Millisecond},
	},
	{
		name: "cancellation is an internal error", agent: "spec03", want: "task-cancel cancel-completed-task",
		broken: agenttest.Refusing(agenttest.RPC("tasks/cancel"), -32603), agents: refagent.Options{CancelWait: 100 * time.Millisecond},
	},
	{
		name: "S0-4.4: HTTP 500 for the cancellation of a completed task", agent: "legacy", want: "cancel-completed-task",
		only: []string{"cancel-completed-task"}, broken: agenttest.Failing(agenttest.RPC("tasks/cancel"), http.StatusInternalServerError),
	},
	{
		name: "S0-4.4: HTTP 500 for the cancellation of a completed task in 0.1", agent: "spec01", want: "cancel-completed-task",
		only: []string{"cancel-completed-task"}, broken: agenttest.Failing(agenttest.RPC("tasks/cancel"), http.StatusInternalServerError),
	},
	{
		name: "S0-4.4: HTTP 500 for the cancellation of a completed task in 0.2", agent: "spec02", want: "cancel-completed-task",
		only: []string{"cancel-completed-task"}, broken: agenttest.Failing(agenttest.RPC("tasks/cancel"), http.StatusInternalServerError),
	},
	{
		name: "S0-4.4: HTTP 500 for the cancellation of a completed task in 0.3", agent: "spec03-rest", want: "cancel-completed-task",
		only:   []string{"cancel-completed-task"},
		broken: agenttest.Failing(agenttest.Path(http.MethodPost, ":cancel$"), http.StatusInternalServerError),
	},
	{
		name: "S0-4.4: HTTP 500 for the cancellation of a completed task in 1.0", agent: "spec", want: "cancel-completed-task",
		only: []string{"cancel-completed-task"},
		broken: agenttest.Failing(agenttest.Either(agenttest.RPC("CancelTask"), agenttest.Path(http.MethodPost, ":cancel$")),
			http.StatusInternalServerError),
	},
	{name: "another task", agent: "spec", fault: "id-task-continued", want: "multi-turn"},
	{name: "another task in 0.3", agent: "spec03", fault: "id-task-continued", want: "multi-turn"},
	{
		name: "no history", agent: "legacy", want: "task-history",
		broken: agenttest.Changing(agenttest.RPC("tasks/get"), `"history":\[`, `"past":[`),
	},
	{name: "no answer to an example", agent: "spec", broken: boom, want: "skills-answer"},
	{
		name: "tells everybody", agent: "spec", broken: telling, want: "concurrent-tasks",
		probes: probe.Options{Protocols: []client.Protocol{client.JSONRPC10}},
	},
	{
		name: "stream of another type", agent: "spec", fault: "stream-content-type", want: "stream-content-type",
		agents: refagent.Options{CancelWait: 100 * time.Millisecond},
	},
	{name: "stream refused", agent: "spec03", fault: "cap-streaming-refused", want: "stream-content-type"},
	{
		name: "stream as JSON", agent: "legacy", want: "stream-content-type",
		broken: asStream("tasks/sendSubscribe", "tasks/send"),
	},
	{name: "no first task", agent: "spec", fault: "stream-first-event", want: "stream-first-event"},
	{
		name: "first event unnamed", agent: "legacy", want: "stream-first-event",
		broken: agenttest.Answers(agenttest.RPC("tasks/sendSubscribe"), firstUnnamed),
		only:   []string{"stream-first-event", "stream-last-event", "sse-final-event"},
	},
	{
		name: "events of another name", agent: "legacy", want: "stream-middle-events",
		broken: agenttest.Changing(agenttest.RPC("tasks/sendSubscribe"), "event: artifact", "event: chunk"),
		only:   []string{"stream-first-event", "stream-middle-events", "stream-last-event", "stream-closes"},
	},
	{
		name: "message in the stream of a task", agent: "spec", fault: "stream-no-message-in-task-stream",
		want: "stream-middle-events",
	},
	{name: "cut short", agent: "spec", fault: "stream-truncated", want: "stream-last-event"},
	{name: "cut short in 0.3", agent: "spec03", fault: "stream-truncated", want: "stream-last-event"},
	{
		name: "not final", agent: "spec03", want: "sse-final-event",
		broken: agenttest.Changing(agenttest.RPC("message/stream"), `"final":true`, `"final":false`),
		only:   streamIDs,
	},
	{
		name: "not final before 0.1", agent: "legacy", want: "sse-final-event",
		broken: agenttest.Changing(agenttest.RPC("tasks/sendSubscribe"), `,"final":true`, ``), only: streamIDs,
	},
	{name: "works on", agent: "spec", fault: "stream-closed-on-terminal", want: "stream-nothing-after-end"},
	{name: "works on in 0.3", agent: "spec03", fault: "stream-nothing-after-final", want: "stream-nothing-after-end"},
	{
		name: "open for good", agent: "spec01", broken: openForGood, want: "stream-closes", only: streamIDs,
		probes: probe.Options{Timeout: 3 * time.Second, Parallel: len(streamIDs)}, // each waits for the end
	},
	{name: "forgets", agent: "legacy", broken: forgetful, want: "stream-dropped"},
	{
		name: "no way back", agent: "spec03", broken: agenttest.Refusing(agenttest.RPC("tasks/resubscribe"), -32603),
		want: "stream-resubscribe",
	},
	{
		name: "unknown method is an internal error", agent: "spec", fault: "rpc-unknown-method-code",
		want: "error-unknown-method",
	},
	{name: "nonsense is an internal error", agent: "legacy", broken: agenttest.Refusing(agenttest.Holding("valid jsonrpc"), -32603), want: "not-json-rpc"},
	{
		name: "another code", agent: "spec03", want: "error-task-not-found",
		broken: agenttest.Changing(agenttest.RPC("tasks/get"), "-32001", "-32603"), only: []string{"error-task-not-found"},
	},
	{name: "canceled after its end", agent: "spec", fault: "state-cancel-terminal", want: "cancel-completed-task"},
	{
		name: "canceled with another code", agent: "spec", fault: "state-cancel-terminal-code",
		want: "cancel-completed-task",
	},
	{name: "lets anybody in", agent: "spec", fault: "auth-not-enforced", want: "auth-required"},
	{
		name: "forbidden", agent: "legacy", want: "auth-401",
		agents: refagent.Options{Auth: bearer}, probes: probe.Options{Client: client.Options{Token: bearer.Secret}},
		broken: agenttest.OnAnswer(func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
			if a.Code == http.StatusUnauthorized {
				a.Code = http.StatusForbidden
			}
		}),
		only: []string{"auth-required", "auth-401", "auth-error-code"},
	},
	{
		name: "unauthorized by another code", agent: "legacy", want: "auth-error-code",
		agents: refagent.Options{Auth: bearer}, probes: probe.Options{Client: client.Options{Token: bearer.Secret}},
		broken: agenttest.Changing(agenttest.RPC("tasks/get"), "-32000", "-32099"),
	},
	{
		name: "falls", agent: "legacy", broken: falling, want: "still-answers",
		only: []string{"not-json-rpc", "still-answers"}, probes: probe.Options{Parallel: 1},
	},
	{
		name: "no config", agent: "spec", fault: "push-supported-but-refused", agents: refagent.Options{Push: true},
		want:   "push-config push-config-delete push-after-delete",
		probes: probe.Options{Protocols: []client.Protocol{client.JSONRPC10}, Timeout: time.Second},
		only:   pushIDs,
	},
	{
		name: "config of another URL", agent: "spec", fault: "push-get-details", agents: refagent.Options{Push: true},
		want: "push-config", only: pushIDs,
	},
	{
		name: "config outlives its deletion", agent: "spec", fault: "push-get-missing",
		agents: refagent.Options{Push: true},
		want:   "push-config-delete", only: pushIDs,
	},
	{
		name: "config stays in the list", agent: "spec", fault: "push-list-no-deleted",
		agents: refagent.Options{Push: true},
		want:   "push-config-delete", only: pushIDs,
	},
	{
		name: "any webhook", agent: "legacy", agents: refagent.Options{Push: true}, want: "push-https",
		broken: agenttest.Asking(agenttest.RPC("tasks/pushNotification/set"), `"http://`, `"https://`), only: []string{"push-https"},
	},
	{
		name: "tells nobody", agent: "spec01", agents: refagent.Options{Push: true}, want: "push-delivery",
		broken: quiet("pushNotification"), only: []string{"push-delivery", "push-token"},
		probes: probe.Options{Timeout: 2 * time.Second, Parallel: 2},
	},
	{
		name: "delivers after deletion", agent: "spec03", agents: refagent.Options{Push: true}, want: "push-after-delete",
		broken: answersOnly("tasks/pushNotificationConfig/delete"), only: []string{"push-after-delete", "push-delivery"},
	},
}

var (
	bearer    = &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "s3cret"}
	streamIDs = []string{
		"stream-content-type", "stream-first-event", "stream-middle-events", "stream-last-event", "sse-final-event",
		"stream-nothing-after-end", "stream-closes",
	}
	pushIDs = []string{
		"push-config", "push-config-delete", "push-https", "push-delivery", "push-token", "push-after-delete",
	}
)

func TestBrokenAgentsFail(t *testing.T) {
	t.Parallel()
	for turn, tt := range brokenTests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := strings.Fields(tt.want)
			o := tt.agents
			o.Fault = tt.fault
			if o.StepTime == 0 {
				o.StepTime = 5 * time.Millisecond
			}
			p := tt.probes
			p.Drive = probe.Scripted
			p.Parallel = max(p.Parallel, 1)
			if p.Timeout == 0 {
				p.Timeout = 20 * time.Second
			}
			if len(tt.only) == 0 {
				p.Scenarios = fewer(scenarios.Basics(), 4, turn, func(s *probe.Scenario) bool { return slices.Contains(want, s.ID) })
			} else {
				p.Scenarios = slices.DeleteFunc(scenarios.Basics(), func(s *probe.Scenario) bool { return !slices.Contains(tt.only, s.ID) })
			}
			report := must.Get(probe.Run(t.Context(), agenttest.Start(t, tt.agent, o, tt.broken), p))(t)
			failed := map[string]bool{}
			for _, r := range report.Results {
				if !r.Bad() {
					continue
				}
				failed[r.Scenario.ID] = true
				if !slices.Contains(want, r.Scenario.ID) {
					t.Errorf("%s failed too: %s\n%s\n%s", r.Name, r.Message, r.Request, r.Answer)
				}
			}
			for _, id := range want {
				if !failed[id] {
					for _, r := range report.Results {
						t.Logf("%-12s %-40s %s", r.Status, r.Name, r.Message)
					}
					t.Errorf("%s did not fail", id)
				}
			}
		})
	}
}

// Each S0 scenario can fail.
func TestEachScenarioCanFail(t *testing.T) {
	for _, s := range scenarios.Basics() {
		if s.ID == "push-token" {
			continue // TestWebhooksOverTLS has an agent with this fault
		}
		shown := false
		for _, tt := range brokenTests {
			shown = shown || slices.Contains(strings.Fields(tt.want), s.ID)
		}
		if !shown {
			t.Errorf("no agent makes %s fail", s.ID)
		}
	}
}

// Before 0.1 webhooks require https: with a certificate that the agent trusts, everything is observed.
func TestWebhooksOverTLS(t *testing.T) {
	t.Parallel()
	authority := must.Get(ca.Open(t.TempDir()))(t)
	certificate := must.Get(authority.Leaf("127.0.0.1"))(t)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	for _, forgets := range []bool{false, true} {
		var broken agenttest.Breaker
		if forgets {
			broken = agenttest.Asking(agenttest.RPC("tasks/send"), `"token":`, `"forgotten":`)
		}
		url := agenttest.Start(t, "legacy", refagent.Options{
			Push: true, WebhookRoots: roots, StepTime: 5 * time.Millisecond,
		}, broken)
		report, err := probe.Run(t.Context(), url, probe.Options{
			Scenarios: scenarios.Basics(), Parallel: 4, Timeout: 20 * time.Second,
			Webhook: webhook.Options{Certificate: certificate},
		})
		must.Do(t, err)
		for _, r := range report.Results {
			wantFailure := forgets && r.Scenario.ID == "push-token"
			if r.Bad() != wantFailure {
				t.Errorf("%s: %s, %s", r.Name, r.Status, r.Message)
			}
			if r.Scenario.ID == "push-delivery" && r.Status != probe.Pass {
				t.Errorf("%s: %s, %s", r.Name, r.Status, r.Message)
			}
		}
		if level, reason := report.Level(); (level == probe.Full) == forgets {
			t.Errorf("level %s, %s", level, reason)
		}
	}
}
