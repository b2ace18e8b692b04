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

func TestHistoryScenariosFail(t *testing.T) {
	testWrong(t, lifecycle.Histories, []wrong{
		{name: "history-max", fails: []string{"act-history-length", "act-history-zero"}},
		{
			name: "none means all", fails: []string{"act-history-zero-send"},
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				return strings.Replace(body, `"configuration":{"historyLength":0}`, `"configuration":{}`, 1)
			}),
		},
		{
			name: "negative numbers are taken", fails: []string{"act-history-negative"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "historyLength=-1", "", 1)
				return strings.Replace(body, `"historyLength":-1`, `"historyLength":1`, 1)
			}),
		},
		{
			name: "no more than a hundred", fails: []string{"act-history-large"},
			twist: agenttest.Saying(func(r *http.Request, body string) bool {
				return strings.Contains(r.URL.RawQuery+body, "1048576")
			}, http.StatusBadRequest, `{"error":{"code":-32602,"message":"too many"}}`),
		},
		{
			name: "texts are changed", fails: []string{"act-history-order"},
			twist: agenttest.OnAnswer(func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
				a.Body = bytes.NewBuffer(regexp.MustCompile(`please 1:`).ReplaceAll(a.Body.Bytes(), []byte("please 3:")))
			}),
		},
	})
}
