package refagent_test

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/refagent"
)

// receive runs an https webhook until the test ends. It passes on the path of each request and answers with a status.
// It returns the webhook's URL, and a pool that trusts it.
func receive(t *testing.T, paths chan<- string, status func(path string) int) (string, *x509.CertPool) {
	t.Helper()
	return receiver(t, func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.Path
		w.WriteHeader(status(r.URL.Path))
	})
}

func receiver(t *testing.T, handler http.HandlerFunc) (string, *x509.CertPool) {
	t.Helper()
	hook := httptest.NewTLSServer(handler)
	hook.Config.ErrorLog = nil
	t.Cleanup(hook.Close)
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	return hook.URL, roots
}

func always(status int) func(string) int { return func(string) int { return status } }

// Up to 0.1 a task has one push notification config: setting another replaces it.
func TestOneConfigOfATask(t *testing.T) {
	for _, agent := range []string{"legacy", "spec01"} {
		t.Run(agent, func(t *testing.T) {
			paths := make(chan string, 64)
			hook, roots := receive(t, paths, always(http.StatusOK))
			origin := serve(t, agent, refagent.Options{Push: true, WebhookRoots: roots})
			endpoint := "/" + strings.TrimPrefix(agent, "legacy")
			call := func(method, params string) string {
				body := bodyOf(t, origin, legacyCall(endpoint, method, params))
				return body
			}
			call("tasks/send", legacySend("t1", "multi-turn x"))
			for !strings.Contains(call("tasks/get", `{"id":"t1"}`), `"status":{"state":"input-required"`) {
			}
			for _, path := range []string{"/first", "/second"} {
				set := call("tasks/pushNotification/set",
					`{"id":"t1","pushNotificationConfig":{"id":"x`+path+`","url":"`+hook+path+`"}}`)
				got := call("tasks/pushNotification/get", `{"id":"t1"}`)
				if !strings.Contains(got, hook+path) || got != set {
					t.Errorf("after %s is set: got %s, want %s", path, got, set)
				}
			}
			call("tasks/send", legacySend("t1", "done"))
			for range 2 { // working, completed
				expect.Equal(t, "a notification went to", "/second", <-paths)
			}
		})
	}
}

// The agent does not retry a refused notification, but retries after a server error. It logs the abandoned webhook
// and the reason, without the secrets in its address.
func TestFailedDeliveriesAreLogged(t *testing.T) {
	for _, tt := range []struct {
		agent    string
		status   int
		attempts int
		want     string
	}{
		{"legacy", 500, 4, "it answers 500 Internal Server Error (attempts: 4); it gets no more notifications of this task"},
		{"legacy", 404, 1, "it answers 404 Not Found (attempts: 1); it gets no more notifications of this task"},
		{"spec01", 500, 3, "it answers 500 Internal Server Error (attempts: 3); it misses this notification"},
		{"spec01", 302, 1, "it answers 302 Found (attempts: 1); it misses this notification"},
	} {
		t.Run(tt.agent+" "+http.StatusText(tt.status), func(t *testing.T) {
			paths, logged := make(chan string, 64), make(chan string, 64)
			hook, roots := receive(t, paths, always(tt.status))
			origin := serve(t, tt.agent, refagent.Options{
				Push: true, WebhookRoots: roots, Log: func(text string) { logged <- text },
			})
			params := strings.TrimSuffix(legacySend("t1", "tck-input-required"), "}") +
				`,"pushNotification":{"url":"` + hook + `/secret-path"}}`
			if tt.agent == "legacy" {
				params = strings.Replace(params, "tck-input-required", "task-cancel", 1)
			}
			exchange(t, origin, legacyCall("/"+strings.TrimPrefix(tt.agent, "legacy"), "tasks/send", params))
			want := "push notification of task t1 to " + hook + ": " + tt.want
			expect.Equal(t, "logged", want, <-logged)
			for range tt.attempts {
				<-paths
			}
			if tt.agent == "legacy" && len(paths) > 0 {
				t.Error("the webhook was asked after it was given up")
			}
		})
	}
}

// Without its authority a receiver is not trusted.
func TestWebhookIsNotTrusted(t *testing.T) {
	paths, logged := make(chan string, 64), make(chan string, 64)
	hook, _ := receive(t, paths, always(http.StatusOK))
	origin := serve(t, "legacy", refagent.Options{Push: true, Log: func(text string) { logged <- text }})
	params := strings.TrimSuffix(legacySend("t1", "task-cancel"), "}") + `,"pushNotification":{"url":"` + hook + `"}}`
	exchange(t, origin, legacyCall("/", "tasks/send", params))
	if got := <-logged; !strings.Contains(got, "certificate signed by unknown authority") || len(paths) > 0 {
		t.Errorf("logged %q; the receiver was asked %d times", got, len(paths))
	}
}
