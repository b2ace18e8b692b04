package replay_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/must"
	"a2atap/proxy/webhook"
	"a2atap/replay/internal/agenttest"
)

// What agents do wrong with notifications is found when these come through a tap: a token left out, and a task for which
// nobody gave the webhook. A faithful one is clean. No secret of the webhook is in the record.
func TestFaultsOfNotifications(t *testing.T) {
	t.Parallel()
	const secret = "hook-query-secret-0815"
	tests := []struct {
		name, task, token string
		want              []string
	}{
		{"faithful", "t1", "tok-12345678", nil},
		{"no token", "t1", "", []string{"hook-token"}},
		{"another task", "t2", "tok-12345678", []string{"hook-task-known"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer hook.Close()
			var address string
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				task := "t2"
				if _, rest, ok := strings.Cut(string(body), `"pushNotificationConfig":{"url":"`); ok {
					address, _, _ = strings.Cut(rest, `"`)
					task = "t1"
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":%q,"contextId":"c-%s",`+
					`"status":{"state":"working"}}}`, task, task)
			}))
			defer agent.Close()
			mem := recordHooks(t, agent.URL, func(tap string) {
				send := func(to, configuration, token string) {
					request, _ := http.NewRequest("POST", to, strings.NewReader(configuration))
					request.Header.Set("Content-Type", "application/json")
					if token != "" {
						request.Header.Set("X-A2A-Notification-Token", token)
					}
					answer := must.Get(http.DefaultClient.Do(request))(t)
					answer.Body.Close()
				}
				const message = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message",` +
					`"messageId":"m%d","role":"user","parts":[{"kind":"text","text":"hi"}]}%s}}`
				send(tap, fmt.Sprintf(message, 1, `,"configuration":{"pushNotificationConfig":{"url":"`+hook.URL+"/h?api_key="+
					secret+`","token":"tok-12345678"}}`), "")
				send(tap, fmt.Sprintf(message, 2, ""), "")
				send(address, `{"kind":"task","id":"`+test.task+`","contextId":"c-`+test.task+`","status":{"state":"working"}}`,
					test.token)
				http.DefaultClient.CloseIdleConnections()
			})
			result := must.Get(engine.Run(t.Context(), rules.All, mem, nil))(t)
			var got []string
			for _, f := range result.Findings {
				if strings.HasPrefix(f.Rule.ID, "hook-") && f.Rule.ID != "hook-https" {
					got = append(got, f.Rule.ID)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found are %q, want %q", got, test.want)
			}
			for x, err := range mem.Exchanges(t.Context(), 1) {
				must.Do(t, err)
				if all := fmt.Sprintf("%s %s %v %v", x.Request.Head, x.Request.Body.Data, x.Rewrites, x.Notes); strings.Contains(
					all, secret) || strings.Contains(all, "tok-12345678") {
					t.Errorf("a secret is recorded: %s", all)
				}
			}
		})
	}
}

// recordHooks is record with webhooks that are led through the tap.
func recordHooks(t *testing.T, agentURL string, talk func(tapURL string)) *capture.Memory {
	t.Helper()
	key := []byte("0123456789abcdef0123456789abcdef")
	return agenttest.RecordOne(t, agenttest.Recording{
		Redact: redact.Options{Key: key, Describer: reading.NewDescriber()}, Webhooks: &webhook.Spec{Key: key},
	}, agentURL, talk)
}
