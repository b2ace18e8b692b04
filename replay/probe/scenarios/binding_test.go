package scenarios_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/binding"
	"a2atap/replay/probe/scenarios/internal/push"
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
		{
			name: "a status of gRPC that the error does not have", bindings: []string{"grpc"},
			fails: []string{"act-grpc-status-codes"},
			twist: onHead(func(h http.Header) {
				if h.Get("Grpc-Status") == "5" {
					h.Set("Grpc-Status", "10")
				}
			}),
		},
		{
			name: "no details over gRPC", bindings: []string{"jsonrpc", "grpc"},
			fails: []string{"act-binding-equivalence", "act-grpc-status-codes"},
			twist: onHead(func(h http.Header) { h.Del("Grpc-Status-Details-Bin") }),
		},
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

// An agent on another machine has no reason to accept a webhook on its own.
func TestPrivateWebhook(t *testing.T) {
	remote := push.PrivateWebhook(func(*probe.Session) bool { return true })
	refuses := agenttest.Saying(func(_ *http.Request, body string) bool {
		return strings.Contains(body, "https://127.0.0.1:9/")
	}, http.StatusBadRequest, `{"error":{"code":-32602,"message":"not there"}}`)
	testWrong(t, []*probe.Scenario{remote}, []wrong{
		{
			name: "any webhook is taken", push: true, fails: []string{"act-push-ssrf"},
			twist: func(next http.Handler) http.Handler { return next },
		},
		{name: "its own are refused", push: true, twist: refuses},
	})
}

func TestPushScenariosFail(t *testing.T) {
	here := slices.DeleteFunc(slices.Clone(push.Configs), func(s *probe.Scenario) bool {
		return s.ID == "act-push-ssrf" // tests agents on other machines
	})
	testWrong(t, here, []wrong{
		{name: "configs break it", push: true, fails: []string{"act-push-not-found"}, twist: agenttest.Saying(
			func(r *http.Request, body string) bool {
				return strings.Contains(body, `"GetTaskPushNotificationConfig"`) ||
					r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/pushNotificationConfigs/")
			}, http.StatusInternalServerError, `{"error":{"code":-32603,"message":"oops"}}`)},
	})
}
