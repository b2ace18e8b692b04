package scenarios_test

import (
	"net/http"
	"strings"
	"testing"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/internal/lifecycle"
)

func TestOperationScenariosFail(t *testing.T) {
	testWrong(t, lifecycle.Operations, []wrong{
		{name: "equiv-error-same", fails: []string{"jsonrpc/act-task-not-found"}},
		{name: "id-get-echo", fails: []string{"act-task-read"}},
		{name: "rpc-core-method-missing-v1", fails: []string{
			"jsonrpc/act-cancel-idempotent", "jsonrpc/act-return-immediately", "jsonrpc/act-task-read",
		}},
		{name: "state-send-terminal-rejected-v1", fails: []string{"act-send-terminal"}},
		{name: "state-send-terminal-code", fails: []string{"act-send-terminal"}},
		{name: "state-cancel-terminal-code", fails: []string{"act-cancel-idempotent"}},
		{name: "part-file-xor", agent: "spec03", fails: []string{"act-part-kinds"}},
		{name: "state-blocking", fails: []string{"act-blocking-default"}},
		{
			name: "clients have to wait", fails: []string{"act-return-immediately"},
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				if !strings.Contains(body, "long-running") {
					return body
				}
				return strings.Replace(body, `"returnImmediately":true`, `"returnImmediately":false`, 1)
			}),
		},
		{
			name: "cancellations break it", fails: []string{"act-task-not-found"},
			twist: agenttest.Saying(func(r *http.Request, body string) bool {
				return strings.HasSuffix(r.URL.Path, ":cancel") || strings.Contains(body, `"CancelTask"`)
			}, http.StatusInternalServerError, `{"error":{"code":-32603,"message":"oops"}}`),
		},
		{
			name: "files break it", fails: []string{"act-unknown-media-type"},
			twist: agenttest.Saying(func(_ *http.Request, body string) bool {
				return strings.Contains(body, "nobody-knows-this")
			}, http.StatusInternalServerError, `{"error":{"code":-32603,"message":"oops"}}`),
		},
	})
}
