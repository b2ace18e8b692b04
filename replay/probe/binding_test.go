package probe_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/binding"
	"a2atap/replay/probe/scenarios/push"
	"a2atap/replay/probe/scenarios/refusals"
	"a2atap/replay/probe/scenarios/version"
)

func TestBindingScenariosFail(t *testing.T) {
	testWrong(t, binding.Scenarios, []wrong{
		{name: "rest-error-status-map", fails: []string{"act-rest-status-codes"}},
		{name: "rest-error-code-equals-status", fails: []string{"act-rest-status-codes"}},
		{name: "rest-error-message", fails: []string{"act-rest-status-codes"}},
		{name: "rest-errorinfo-present", fails: []string{"act-binding-equivalence", "act-rest-status-codes"}},
		{name: "rest-content-type-v1", fails: []string{"act-rest-media-type"}},
		{name: "rpc-error-data-array", fails: []string{"act-rpc-error-codes", "act-rpc-errorinfo"}},
		{name: "rpc-error-data-type-key", fails: []string{"act-rpc-error-codes", "act-rpc-errorinfo"}},
		{name: "rpc-a2a-errorinfo", fails: []string{"act-rpc-errorinfo"}},
		{name: "rpc-errorinfo-domain", fails: []string{"act-rpc-errorinfo"}},
		{name: "equiv-error-same", fails: []string{"act-binding-equivalence"}},
		{name: "equiv-result-same", fails: []string{"act-binding-equivalence"}},
		{
			name: "no page has an end", fails: []string{"act-rest-routes"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "pageSize", "page_size", 1)
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "historyLength", "history_length", 1)
				return body
			}),
		},
	})
}

func TestExtensionScenariosFail(t *testing.T) {
	asked := http.Header{"A2A-Extensions": {"https://example.com/extensions/needed/v1"}}
	testWrong(t, version.Extensions, []wrong{
		{name: "ext-required-missing", fails: []string{"act-required-extension"}, client: client.Options{Header: asked}},
		{
			name: "another version is taken", fault: "ext-response-echo", fails: []string{"act-extension-no-fallback"},
			twist: agenttest.OnAnswer(func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
				a.Header().Set("A2A-Extensions", "https://a2atap.example/extensions/seats/v1")
			}),
		},
		{name: "cap-streaming-unsupported", fails: []string{"act-capability-extended-card", "act-capability-streaming"}},
		{name: "push-unsupported-error", push: true, fails: []string{"act-capability-push"}},
		{name: "cap-extended-undeclared", fails: []string{"act-capability-extended-card"}},
		{
			name: "unknown extensions are refused", fails: []string{"act-unknown-extension-ignored"},
			twist: agenttest.Saying(func(r *http.Request, _ string) bool {
				return strings.Contains(r.Header.Get("A2A-Extensions"), "no-such-extension")
			}, http.StatusBadRequest, `{"error":{"code":-32602,"message":"oops"}}`),
		},
	})
}

func TestRobustnessScenariosFail(t *testing.T) {
	const oops = `{"error":{"code":-32603,"message":"oops"}}`
	whenBody := func(is func(string) bool) func(http.Handler) http.Handler {
		return agenttest.Saying(func(_ *http.Request, body string) bool { return is(body) }, http.StatusInternalServerError, oops)
	}
	testWrong(t, refusals.Robustness, []wrong{
		{
			name: "unknown members break it", fails: []string{"act-unknown-fields-ignored"},
			twist: whenBody(func(b string) bool { return strings.Contains(b, "a2atapUnknown") }),
		},
		{
			name: "long texts break it", fails: []string{"act-long-text"},
			twist: whenBody(func(b string) bool { return len(b) > 50_000 }),
		},
		{
			name: "nulls break it", fails: []string{"act-null-members"},
			twist: whenBody(func(b string) bool { return strings.Contains(b, `"metadata":null`) }),
		},
		{
			name: "roles are made up", fails: []string{"act-required-fields-validated"},
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				if strings.Contains(body, `"role"`) {
					return body
				}
				return strings.Replace(body, `"message":{`, `"message":{"role":"ROLE_USER",`, 1)
			}),
		},
	})
}

// An agent on another machine has no reason to take a webhook on its own.
func TestPrivateWebhook(t *testing.T) {
	elsewhere := push.PrivateWebhook(func(*probe.Session) bool { return true })
	refuses := agenttest.Saying(func(_ *http.Request, body string) bool {
		return strings.Contains(body, "https://127.0.0.1:9/")
	}, http.StatusBadRequest, `{"error":{"code":-32602,"message":"not there"}}`)
	testWrong(t, []*probe.Scenario{elsewhere}, []wrong{
		{
			name: "any webhook is taken", push: true, fails: []string{"act-push-ssrf"},
			twist: func(next http.Handler) http.Handler { return next },
		},
		{name: "its own are refused", push: true, twist: refuses},
	})
}

func TestPushScenariosFail(t *testing.T) {
	here := slices.DeleteFunc(slices.Clone(push.Configs), func(s *probe.Scenario) bool {
		return s.ID == "act-push-ssrf" // it is for agents on other machines
	})
	testWrong(t, here, []wrong{
		{name: "configs break it", push: true, fails: []string{"act-push-not-found"}, twist: agenttest.Saying(
			func(r *http.Request, body string) bool {
				return strings.Contains(body, `"GetTaskPushNotificationConfig"`) ||
					r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/pushNotificationConfigs/")
			}, http.StatusInternalServerError, `{"error":{"code":-32603,"message":"oops"}}`)},
	})
}
