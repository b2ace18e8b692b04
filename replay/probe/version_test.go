package probe_test

import (
	"bytes"
	"net/http"
	"testing"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/version"
)

func TestVersionScenariosFail(t *testing.T) {
	const oops = `{"error":{"code":-32603,"message":"oops"}}`
	testWrong(t, version.Scenarios, []wrong{
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
