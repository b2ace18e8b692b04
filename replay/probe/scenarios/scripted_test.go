package scenarios_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/internal/lifecycle"
)

func TestScriptedScenariosFail(t *testing.T) {
	replaced := func(words ...string) func(http.Handler) http.Handler {
		return agenttest.OnAnswer(func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
			body := a.Body.Bytes()
			for i := 0; i < len(words); i += 2 {
				body = bytes.ReplaceAll(body, []byte(words[i]), []byte(words[i+1]))
			}
			a.Body = bytes.NewBuffer(body)
		})
	}
	testWrong(t, lifecycle.Scripted, []wrong{
		{name: "artifact-id-present", fails: []string{"act-scripted-chunks"}},
		{name: "stream-chunk-append-known", fails: []string{"act-scripted-chunks"}},
		{name: "stream-artifact-consistent", fails: []string{"act-scripted-chunks"}},
		{name: "msg-id-present", fails: []string{"act-scripted-message-response"}},
		{
			name: "completed tasks wait",
			fails: []string{
				"act-scripted-artifact-data", "act-scripted-artifact-file", "act-scripted-artifact-file-url",
				"act-scripted-artifact-text",
			},
			twist: replaced("STATE_COMPLETED", "STATE_INPUT_REQUIRED"),
		},
		{
			name: "rejected tasks fail", fails: []string{"act-scripted-reject-task"},
			twist: replaced("STATE_REJECTED", "STATE_FAILED"),
		},
		{
			name: "failed tasks complete", fails: []string{"act-scripted-task-failure"},
			twist: replaced("STATE_FAILED", "STATE_COMPLETED"),
		},
		{
			name: "tasks that wait complete", fails: []string{"act-scripted-input-required"},
			twist: replaced("STATE_INPUT_REQUIRED", "STATE_COMPLETED"),
		},
		{
			name: "files have no names", fails: []string{"act-scripted-artifact-file", "act-scripted-artifact-file-url"},
			twist: replaced(`"filename":"output.txt",`, "", `"filename":"output.txt"`, `"x":1`),
		},
		{
			name: "numbers are texts", fails: []string{"act-scripted-artifact-data"},
			twist: replaced(`"count":42`, `"count":"42"`),
		},
		{
			name: "texts are blank", fails: []string{"act-scripted-artifact-text"},
			twist: replaced("Generated text content", " "),
		},
	})
}
