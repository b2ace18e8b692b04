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

// Rules find the faults of agents in notifications through the tap: a missing token, and a task without a webhook. A
// faithful agent has no findings. The record contains no secret of the webhook.
func TestFaultsOfNotifications(t *testing.T) {
	t.Parallel()
	const secret = "hook-query-secret-0815"
	tests := []struct {
		name, task, token string
		v1                bool // A2A 1.0; else 0.3
		want              []string
	}{
		{"faithful", "t1", "tok-12345678", false, nil},
		{"S4-5.2c: no token", "t1", "", false, []string{"hook-token"}},
		{"S4-5.2c: wrong token", "t1", "tok-another-one", false, []string{"hook-token"}},
		{"another task", "t2", "tok-12345678", false, []string{"hook-task-known"}},
		{"faithful in 1.0", "t1", "tok-12345678", true, nil},
		{"S4-5.2c: no token in 1.0", "t1", "", true, []string{"hook-token-v1"}},
		{"S4-5.2c: wrong token in 1.0", "t1", "tok-another-one", true, []string{"hook-token-v1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer hook.Close()
			var address string
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				task := "t2"
				if _, rest, ok := strings.Cut(string(body), `ushNotificationConfig":{"url":"`); ok {
					address, _, _ = strings.Cut(rest, `"`)
					task = "t1"
				}
				w.Header().Set("Content-Type", "application/json")
				if test.v1 {
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":%q,"contextId":"c-%s",`+
						`"status":{"state":"TASK_STATE_WORKING"}}}}`, task, task)
					return
				}
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":%q,"contextId":"c-%s",`+
					`"status":{"state":"working"}}}`, task, task)
			}))
			defer agent.Close()
			mem := recordHooks(t, agent.URL, func(tap string) {
				send := func(to, configuration, token string) {
					request, _ := http.NewRequest("POST", to, strings.NewReader(configuration))
					request.Header.Set("Content-Type", "application/json")
					if test.v1 {
						request.Header.Set("A2A-Version", "1.0")
					}
					if token != "" {
						request.Header.Set("X-A2A-Notification-Token", token)
					}
					answer := must.Get(http.DefaultClient.Do(request))(t)
					answer.Body.Close()
				}
				notification := `{"kind":"task","id":"` + test.task + `","contextId":"c-` + test.task +
					`","status":{"state":"working"}}`
				config := `"pushNotificationConfig"`
				message := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message",` +
					`"messageId":"m%d","role":"user","parts":[{"kind":"text","text":"hi"}]}%s}}`
				if test.v1 {
					config = `"taskPushNotificationConfig"`
					message = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m%d",` +
						`"role":"ROLE_USER","parts":[{"text":"hi"}]}%s}}`
					notification = `{"task":{"id":"` + test.task + `","contextId":"c-` + test.task +
						`","status":{"state":"TASK_STATE_WORKING"}}}`
				}
				send(tap, fmt.Sprintf(message, 1, `,"configuration":{`+config+`:{"url":"`+hook.URL+"/h?api_key="+
					secret+`","token":"tok-12345678"}}`), "")
				send(tap, fmt.Sprintf(message, 2, ""), "")
				send(address, notification, test.token)
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

// recordHooks is record with webhooks that pass through the tap.
func recordHooks(t *testing.T, agentURL string, talk func(tapURL string)) *capture.Memory {
	t.Helper()
	key := []byte("0123456789abcdef0123456789abcdef")
	return agenttest.RecordOne(t, agenttest.Recording{
		Redact: redact.Options{Key: key, Describer: reading.NewDescriber()}, Webhooks: &webhook.Spec{Key: key},
	}, agentURL, talk)
}
