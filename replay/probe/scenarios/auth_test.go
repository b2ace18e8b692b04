package scenarios_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe/scenarios/internal/auth"
	"a2atap/replay/refagent"
)

func isSecond(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer second" }

func TestAuthScenariosFail(t *testing.T) {
	uuid := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	const zero = "00000000-0000-4000-8000-000000000000"
	bearer := &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "right"}
	right, second := client.Options{Token: "right"}, &client.Options{Token: "second"}
	extended := func(r *http.Request, body string) bool {
		return r.Header.Get("Authorization") == "Bearer agentbin-test-token" &&
			(strings.HasSuffix(r.URL.Path, "/extendedAgentCard") || strings.Contains(body, `"GetExtendedAgentCard"`))
	}
	testWrong(t, auth.Scenarios, []wrong{
		{name: "auth-not-enforced", fails: []string{"act-auth-required", "act-auth-wrong"}, client: right},
		{name: "auth-extended-card-server", fails: []string{"act-extended-card-auth"}},
		{name: "auth-required-has-message", fails: []string{"act-in-task-auth"}},
		{
			name: "nothing is wrong", auth: bearer, client: right,
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				return body
			}),
		},
		{
			name: "any token will do", fails: []string{"act-auth-wrong", "act-extended-card-auth"}, auth: bearer,
			client: right,
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				if r.Header.Get("Authorization") != "" {
					r.Header.Set("Authorization", "Bearer right")
				}
				return body
			}),
		},
		{
			name: "nobody is told", fails: []string{"act-auth-challenge"}, auth: bearer, client: right,
			twist: agenttest.OnAnswer(
				func(_ *http.Request, _ string, a *httptest.ResponseRecorder) { a.Header().Del("WWW-Authenticate") },
			),
		},
		{
			name: "users share everything", fails: []string{"act-authz-scope"}, second: second,
			twist: agenttest.OnRequest(func(_ *http.Request, body string) string {
				return body
			}),
		},
		{
			name: "users share nothing", second: second,
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				if !isSecond(r) {
					return body
				}
				r.URL.Path = uuid.ReplaceAllString(r.URL.Path, zero)
				r.URL.RawQuery = uuid.ReplaceAllString(r.URL.RawQuery, zero)
				return uuid.ReplaceAllString(body, zero)
			}),
		},
		{
			name: "tasks of others are forbidden",
			fails: []string{
				"act-not-found-vs-forbidden",
			}, second: second, only: "act-not-found-vs-forbidden",
			twist: agenttest.OnAnswer(func(r *http.Request, _ string, a *httptest.ResponseRecorder) {
				if isSecond(r) && !strings.Contains(a.Body.String(), "TASK_NOT_FOUND") {
					a.Code = http.StatusForbidden
					a.Body.Reset()
				}
			}),
		},
		{
			name: "the extended card is empty",
			fails: []string{
				"act-extended-card",
			}, client: client.Options{Token: "agentbin-test-token"},
			twist: agenttest.Saying(extended,
				http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"name":""}}`),
		},
		{name: "list-scope", fails: []string{"act-list-scope"}, client: client.Options{Token: "agentbin-test-token"}},
		{name: "auth-required-uses-task", fails: []string{"act-in-task-auth-stream"}},
		{
			name: "nobody talks meanwhile", fails: []string{"act-in-task-auth-message"},
			twist: agenttest.Saying(func(_ *http.Request, body string) bool {
				return strings.Contains(body, "What is it for?")
			}, http.StatusBadRequest, `{"error":{"code":-32004,"message":"not now"}}`),
		},
	})
}
