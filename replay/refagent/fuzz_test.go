package refagent_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// quiet is an agent without a socket, for many requests a second.
func quiet(f *testing.F, name, tenant string) *refagent.Agent {
	o := refagent.Options{StepTime: time.Microsecond, CancelWait: time.Microsecond}
	if tenant != "" {
		o.Tenants = []string{tenant}
	}
	a := must.Get(refagent.New(name, o))(f)
	f.Cleanup(a.Close)
	return a
}

// FuzzRPC sends any body to a JSON-RPC endpoint: the answer is always a JSON-RPC response with a result or an error,
// or a stream of them.
func FuzzRPC(f *testing.F) {
	for _, tt := range envelopeTests {
		f.Add([]byte(tt.body))
	}
	for _, tt := range wireTests {
		if _, body, ok := strings.Cut(tt.request, "\n\n"); ok {
			f.Add([]byte(body))
		}
	}
	f.Add([]byte(strings.Repeat("[", 300) + strings.Repeat("]", 300)))
	agents := []*refagent.Agent{quiet(f, "spec", ""), quiet(f, "spec03", ""), quiet(f, "spec", "acme")}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, a := range agents {
			w := httptest.NewRecorder()
			a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", a.Path(), bytes.NewReader(body)))
			answers := []string{w.Body.String()}
			if w.Header().Get("Content-Type") == "text/event-stream" {
				answers = strings.Split(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n")
			}
			for _, answer := range answers {
				var v struct {
					JSONRPC       string
					Result, Error json.RawMessage
				}
				err := json.Unmarshal([]byte(strings.TrimPrefix(answer, "data: ")), &v)
				if err != nil || v.JSONRPC != "2.0" || (v.Result == nil) == (v.Error == nil) {
					t.Errorf("got %q, want a JSON-RPC response", answer)
				}
			}
		}
	})
}

// FuzzREST sends any path, query and body to an HTTP+JSON interface: the answer is always JSON or a stream.
func FuzzREST(f *testing.F) {
	f.Add("POST", "message:send", "",
		[]byte(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"data-types"}]}}`))
	f.Add("GET", "tasks", "pageSize=1&status=TASK_STATE_WORKING", []byte{})
	f.Add("GET", "tasks/a%2Fb:cancel", "historyLength=-1", []byte{})
	f.Add("DELETE", "tasks/a/pushNotificationConfigs/b", "", []byte{})
	f.Add("POST", "tasks/%zz:subscribe", "", []byte(`{}`))
	f.Add("POST", "acme/tasks/t1:cancel", "tenant=b", []byte(`{"tenant":"b"}`))
	a, tenanted := quiet(f, "spec", ""), quiet(f, "spec", "acme")
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte) {
		for _, a := range []*refagent.Agent{a, tenanted} {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/spec/", bytes.NewReader(body))
			r.Method, r.URL.Path, r.URL.RawPath, r.URL.RawQuery = method, "/spec/"+path, "/spec/"+path, query
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			if !strings.Contains(w.Header().Get("Content-Type"), "json") || method == "OPTIONS" {
				continue
			}
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("got %q, want JSON", w.Body)
			}
		}
	})
}
