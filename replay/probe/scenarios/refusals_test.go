package scenarios_test

import (
	"net/http"
	"strings"
	"testing"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/internal/refusals"
)

func TestRPCScenariosFail(t *testing.T) {
	testWrong(t, refusals.JSONRPC, []wrong{
		{name: "rpc-invalid-json-wrong-code", fails: []string{"act-parse-error"}},
		{name: "rpc-id-null-parse-error", fails: []string{"act-parse-error"}},
		{name: "rpc-invalid-request-wrong-code", fails: []string{"act-invalid-request", "act-invalid-request-version"}},
		{name: "rpc-error-code-reserved", fails: []string{"jsonrpc/act-invalid-params"}},
		{name: "rpc-notification-answered", fails: []string{"act-notification-silent"}},
		{name: "rpc-batch-response-array", fails: []string{"act-batch"}},
		{name: "rpc-batch-response-complete", fails: []string{"act-batch"}},
		{name: "rpc-batch-response-empty-array", fails: []string{"act-batch"}},
		{name: "rpc-id-echo", fails: []string{"act-rpc-envelope"}},
		{name: "rpc-id-null-unjustified", fails: []string{"act-duplicate-ids", "act-id-types"}},
		{name: "rpc-result-xor-error", fails: []string{"act-rpc-envelope"}},
		{name: "rpc-response-jsonrpc", fails: []string{"act-rpc-envelope"}},
		{name: "rpc-response-content-type-v1", fails: []string{"act-rpc-content-type"}},
		{
			name: "JSON-RPC of 1.0 is spoken", fails: []string{"act-invalid-request-version"},
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				return strings.Replace(body, `"jsonrpc":"1.0"`, `"jsonrpc":"2.0"`, 1)
			}),
		},
		{
			name: "plain text is read", fails: []string{"act-content-type-rejected"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				if body != "" {
					r.Header.Set("Content-Type", "application/json")
				}
				return body
			}),
		},
		{
			name: "ids are remembered", fails: []string{"act-duplicate-ids"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				return strings.Replace(body, `"id":"the same"`, `"id":"another"`, 1)
			}),
		},
		{
			name: "messages are made up", fails: []string{"act-invalid-params"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				return strings.Replace(body, `{"message":"hello"}`,
					`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`, 1)
			}),
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
