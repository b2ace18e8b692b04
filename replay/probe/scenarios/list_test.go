package scenarios_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/internal/lifecycle"
)

func TestListScenariosFail(t *testing.T) {
	number := regexp.MustCompile(`"pageSize":(0|-1)`)
	testWrong(t, lifecycle.Lists, []wrong{
		{name: "list-next-token-present", fails: []string{"act-list-fields", "act-list-pagination"}},
		{name: "list-last-page-token", fails: []string{"act-list-fields"}},
		{name: "list-page-token-ignored", fails: []string{"act-list-pagination"}},
		{name: "list-required-fields", fails: []string{"act-list-fields"}},
		{name: "list-page-limit", fails: []string{"act-list-pagination"}},
		{name: "list-total-size", fails: []string{"act-list-fields"}},
		{name: "list-sorted", fails: []string{"act-list-sorted"}},
		{name: "list-filter-context", fails: []string{"act-list-filters", "act-list-pagination"}},
		{name: "list-filter-status", fails: []string{"act-list-filters"}},
		{name: "list-filter-time", fails: []string{"act-list-filters"}},
		{name: "list-artifacts-omitted", fails: []string{"act-list-artifacts"}},
		{name: "list-duplicate-task", fails: []string{"act-list-fields"}},
		{name: "history-max", fails: []string{"act-list-history"}},
		{
			name: "artifacts are never listed", fails: []string{"act-list-artifacts-shown"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "includeArtifacts=true", "", 1)
				return strings.Replace(body, `"includeArtifacts":true`, `"includeArtifacts":false`, 1)
			}),
		},
		{
			name: "pages of any size", fails: []string{"act-list-page-limit"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				if r.URL.Query().Get("pageSize") == "-1" {
					r.URL.RawQuery = ""
				}
				return number.ReplaceAllString(body, `"pageSize":1`)
			}),
		},
		{
			name: "times break it", fails: []string{"act-list-invalid"},
			twist: agenttest.Saying(func(r *http.Request, body string) bool {
				return r.URL.Query().Get("statusTimestampAfter") == "yesterday" ||
					strings.Contains(body, `"statusTimestampAfter":"yesterday"`)
			}, http.StatusInternalServerError, `{"error":{"code":-32603,"message":"oops"}}`),
		},
	})
}
