package scenarios_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/internal/lifecycle"
)

func TestContextScenariosFail(t *testing.T) {
	references := regexp.MustCompile(`"referenceTaskIds"`)
	testWrong(t, lifecycle.Contexts, []wrong{
		{name: "id-context-preserved", fails: []string{"act-context-accept-or-reject"}},
		{name: "id-context-inferred", fails: []string{"act-context-inferred"}},
		{name: "id-context-mismatch-rejected", fails: []string{"act-context-mismatch"}},
		{name: "id-task-unique", fails: []string{"act-context-accept-or-reject", "act-task-ids-unique"}},
		{name: "msg-context-on-server-message"},
		{name: "error-internal-for-named-case"},
		{
			name: "unknown tasks are made", fails: []string{"act-unknown-taskid-in-message"},
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				if strings.Contains(body, "task-lifecycle") {
					return regexp.MustCompile(`"taskId":"[^"]*",?`).ReplaceAllString(body, "")
				}
				return body
			}),
		},
		{
			name: "contexts are hidden", fails: []string{"act-context-made"},
			twist: agenttest.OnAnswer(func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
				changed := regexp.MustCompile(`"contextId":"[^"]*",?`).ReplaceAll(a.Body.Bytes(), nil)
				a.Body = bytes.NewBuffer(changed)
			}),
		},
		{
			name: "references break it", fails: []string{"act-reference-tasks"},
			twist: agenttest.Saying(func(_ *http.Request, body string) bool {
				return references.MatchString(body)
			}, http.StatusInternalServerError, `{"error":{"code":-32603,"message":"oops"}}`),
		},
	})
}
