package scenarios_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/internal/version"
)

func TestVersionScenariosFail(t *testing.T) {
	const oops = `{"error":{"code":-32603,"message":"oops"}}`
	testWrong(t, version.Scenarios, []wrong{
		{name: "ver-supported-refused", agent: "echo", fails: []string{"act-version-declared"}},
		{name: "ver-unsupported-error", fails: []string{"jsonrpc/act-version-unsupported"}},
		{
			name: "patches matter", fails: []string{"act-version-patch-ignored"},
			twist: agenttest.Saying(func(r *http.Request, _ string) bool {
				return r.Header.Get("A2A-Version") == "1.0.7"
			}, http.StatusInternalServerError, oops),
		},
		{
			name: "a version has to be there", fails: []string{"act-version-empty"},
			twist: agenttest.Saying(func(r *http.Request, _ string) bool {
				return r.Header.Get("A2A-Version") == "" && r.Method == http.MethodPost && r.URL.RawQuery == ""
			}, http.StatusInternalServerError, oops),
		},
		{
			name: "queries break it", fails: []string{"act-version-query-param"},
			twist: agenttest.Saying(func(r *http.Request, _ string) bool {
				return r.URL.Query().Has("A2A-Version")
			}, http.StatusInternalServerError, oops),
		},
		{name: "names have one spelling", fails: []string{"act-header-case"}, heard: func(p []byte) []byte {
			return bytes.ReplaceAll(p, []byte("\r\na2a-version: 1.0"), []byte("\r\nA2A-Version: 9.9"))
		}},
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
		{name: "ext-response-echo", fails: []string{"act-extension-listed"}},
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
