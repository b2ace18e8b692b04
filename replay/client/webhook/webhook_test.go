package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy/ca"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/limits"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post sends a notification and returns the status of the answer.
func post(t *testing.T, method, url, body string, header http.Header) int {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	req.Header, req.Close = header, true
	resp := must.Get(http.DefaultClient.Do(req))(t)
	resp.Body.Close()
	return resp.StatusCode
}

func listen(t *testing.T, public string) (*Receiver, chan Delivery) {
	t.Helper()
	came := make(chan Delivery, 100)
	r := must.Get(Listen(Options{Address: "127.0.0.1:0", Public: public, On: func(d Delivery) { came <- d }}))(t)
	t.Cleanup(r.Close)
	return r, came
}

func TestDeliveries(t *testing.T) {
	r, came := listen(t, "")
	c := r.Config()
	token := http.Header{"X-A2a-Notification-Token": {c.Token}}
	for _, tt := range []struct {
		method, url, body string
		header            http.Header
		status            int
		state             client.State
		err               string
	}{
		{
			"POST", c.URL, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`, token, 204,
			client.Working, "",
		},
		{"POST", c.URL, `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`, token, 204, client.Completed, ""},
		{"POST", c.URL, `{"kind":"task","id":"t","status":{"state":"completed"}}`, token, 204, client.Completed, ""},
		{"POST", c.URL, `{"id":"t","status":{"state":"failed"}}`, token, 204, client.Failed, ""},
		{
			"POST", c.URL,
			`{"taskId":"t","eventType":"status","status":{"state":"canceled"},"timestamp":"2026-01-01T00:00:00Z"}`,
			http.Header{"Authorization": {"Bearer " + c.Token}},
			204, client.Canceled, "",
		},
		{
			"POST", c.URL, `{"taskId":"t","eventType":"artifact","artifact":{"parts":[{"type":"text","text":"a"}]}}`, token, 204,
			"", "",
		},
		{
			"POST", c.URL, `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`,
			http.Header{},
			401, "",
			ErrToken.Error(),
		},
		{"POST", c.URL, `{"task":{"id":"t"}}`, http.Header{"X-A2a-Notification-Token": {"guess"}}, 401, "", ErrToken.Error()},
		{"POST", c.URL, `{`, token, 400, "", "read the notification"},
		{"POST", c.URL, `{"taskId":"t"}`, token, 400, "", "read the notification"},
		{"POST", c.URL, `[]`, token, 400, "", "read the notification"},
		{"GET", c.URL, ``, token, 405, "", "none"},
		{"POST", c.URL + "x", `{}`, token, 404, "", "none"},
		{"POST", c.URL[:strings.LastIndex(c.URL, "/")], `{}`, token, 404, "", "none"},
	} {
		expect.Equal(t, tt.body+": HTTP", tt.status, post(t, tt.method, tt.url, tt.body, tt.header))
		if tt.err == "none" {
			continue
		}
		d := <-came
		if d.Event.State() != tt.state || string(d.Body) != tt.body || (d.Err == nil) != (tt.err == "") ||
			d.Err != nil && !strings.Contains(d.Err.Error(), tt.err) {
			t.Errorf("%s: got %s, %v", tt.body, d.Event.State(), d.Err)
		}
		if d.Err == nil && d.Event.TaskID() != "t" {
			t.Errorf("%s: got task %q", tt.body, d.Event.TaskID())
		}
	}
	expect.Equal(t, "deliveries of what was none", 0, len(came))
}

func TestAwait(t *testing.T) {
	r, _ := listen(t, "http://hooks.example/base/")
	c := r.Config()
	if !strings.HasPrefix(c.URL, "http://hooks.example/base/") {
		t.Errorf("the agent is told %s", c.URL)
	}
	at := "http://" + r.from.address() + "/base" + r.path
	say := func(task, state string) {
		body := fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":"c","status":{"state":%q}}}`, task, state)
		expect.Equal(t, "HTTP", 204, post(t, "POST", at, body, http.Header{"X-A2a-Notification-Token": {c.Token}}))
	}
	type waited struct {
		next int
		err  error
	}
	done := make(chan waited)
	go func() {
		next, err := r.Await(t.Context(), "t", 0)
		done <- waited{next, err}
	}()
	say("t", "TASK_STATE_WORKING")
	say("other", "TASK_STATE_COMPLETED")
	say("t", "TASK_STATE_INPUT_REQUIRED")
	if got := <-done; got.next != 3 || got.err != nil {
		t.Errorf("got %+v, want that the third says it", got)
	}
	say("t", "TASK_STATE_COMPLETED")
	expect.Equal(t, "", 4, must.Get(r.Await(t.Context(), "t", 3))(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := r.Await(ctx, "t", 4); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "none of 4 notifications reported the end of task t") {
		t.Errorf("got %v", err)
	}
}

// Requests that a web page in a browser sends here under its own host name are rejected.
func TestHosts(t *testing.T) {
	r, came := listen(t, "https://hooks.example:8443/base")
	for host, want := range map[string]int{
		"hooks.example:8443": 204, "HOOKS.example.": 204, "localhost": 204, "127.0.0.1:1": 204, "[::1]": 204,
		"evil.example": 421, "hooks.example.evil.example": 421, "192.0.2.1": 421,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.from.address()+r.path,
			strings.NewReader(`{"id":"t","status":{"state":"working"}}`))
		must.Do(t, err)
		req.Host, req.Close = host, true
		req.Header.Set("X-A2A-Notification-Token", r.Config().Token)
		resp := must.Get(http.DefaultClient.Do(req))(t)
		resp.Body.Close()
		expect.Equal(t, host+": HTTP", want, resp.StatusCode)
	}
	expect.Equal(t, "deliveries", 5, len(came))
}

// With a certificate, the agent gets an https URL. A sender that does not trust the certificate is reported. A
// notification is recorded before it is answered.
func TestTLS(t *testing.T) {
	authority := must.Get(ca.Open(t.TempDir()))(t)
	leaf := must.Get(authority.Leaf("127.0.0.1"))(t)
	came := make(chan Delivery, 10)
	recorded := make(chan string, 10)
	r, err := Listen(Options{
		Address: "127.0.0.1:0", Certificate: leaf, On: func(d Delivery) { came <- d },
		Record: func(at *url.URL, q *http.Request, body []byte, status int) {
			recorded <- fmt.Sprintf("%s %s %s %d", at.Scheme, q.Method, body, status)
		},
	})
	must.Do(t, err)
	defer r.Close()
	if !strings.HasPrefix(r.URL(), "https://127.0.0.1:") || r.Config().URL != r.URL() {
		t.Fatalf("the agent is told %s", r.URL())
	}
	const body = `{"id":"t","status":{"state":"completed"}}`
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	for _, trusts := range []bool{false, true} {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{}, DisableKeepAlives: true}}
		if trusts {
			c.Transport.(*http.Transport).TLSClientConfig.RootCAs = roots
		}
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL(), strings.NewReader(body)))(t)
		req.Header.Set("Authorization", "Bearer "+r.Config().Token)
		resp, err := c.Do(req)
		if (err == nil) != trusts {
			t.Fatalf("trusts %v: %v", trusts, err)
		}
		d := <-came
		if trusts {
			resp.Body.Close()
			if resp.StatusCode != 204 || d.Err != nil || d.Event.State() != client.Completed {
				t.Errorf("HTTP %d, %v", resp.StatusCode, d.Err)
			}
		} else if !errors.Is(d.Err, ErrTLS) || !strings.Contains(d.Err.Error(), "certificate") {
			t.Errorf("got %v, want that the certificate is not trusted", d.Err)
		}
	}
	if got := <-recorded; got != "https POST "+body+" 204" || len(recorded) != 0 {
		t.Errorf("recorded %s, and %d more", got, len(recorded))
	}
}

func TestListenFails(t *testing.T) {
	r, _ := listen(t, "")
	expect.Error(t, "two receivers listen on one address", expect.Err(Listen(Options{Address: r.from.address()})))
}

// Several receivers share one listening address: each gets only its own notifications, and none after it was closed.
func TestReceiversOfOneServer(t *testing.T) {
	s := must.Get(Serve(Options{Address: "127.0.0.1:0"}))(t)
	defer s.Close()
	type heard struct{ who, task string }
	came := make(chan heard, 10)
	receiver := func(who string) client.PushConfig {
		r := s.Receive(Options{On: func(d Delivery) { came <- heard{who, d.Event.TaskID()} }})
		t.Cleanup(r.Close)
		return r.Config()
	}
	a, b := receiver("a"), receiver("b")
	gone := s.Receive(Options{On: func(Delivery) { t.Error("a receiver that is closed has heard something") }})
	gone.Close()
	for _, tt := range []struct {
		url, token string
		status     int
		want       heard
	}{
		{a.URL, a.Token, 204, heard{"a", "t"}},
		{b.URL, b.Token, 204, heard{"b", "t"}},
		{b.URL, a.Token, 401, heard{"b", ""}},
		{gone.URL(), gone.Config().Token, 404, heard{}},
	} {
		body := `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`
		expect.Equal(t, "HTTP",
			tt.status, post(t, "POST", tt.url, body, http.Header{"X-A2a-Notification-Token": {tt.token}}))
		if tt.want != (heard{}) {
			expect.Equal(t, "", tt.want, <-came)
		}
	}
	expect.Equal(t, "deliveries too many", 0, len(came))
}

// The agent gets the host name that the receiver listens on, since the certificate is for that name.
func TestNameOfReceiver(t *testing.T) {
	for address, want := range map[string]string{"localhost:0": "http://localhost:", "127.0.0.1:0": "http://127.0.0.1:"} {
		r := must.Get(Listen(Options{Address: address}))(t)
		if !strings.HasPrefix(r.URL(), want) {
			t.Errorf("%s: got %s, want %s…", address, r.URL(), want)
		}
		r.Close()
	}
}

// For configs that another client wrote, neither the token nor the agent's use of it is known.
func TestAnyNotification(t *testing.T) {
	server := must.Get(Serve(Options{Address: "127.0.0.1:0"}))(t)
	defer server.Close()
	var recorded []string
	r := server.Receive(Options{Any: true, Record: func(at *url.URL, _ *http.Request, body []byte, status int) {
		recorded = append(recorded, fmt.Sprintf("%s %d %s", at.Path, status, body))
	}})
	expect.Equal(t, "status", http.StatusNoContent, post(t, "POST", r.URL(), "anything", http.Header{}))
	if len(recorded) != 1 || !strings.HasSuffix(recorded[0], " 204 anything") {
		t.Errorf("recorded %q", recorded)
	}
}

// A flood of notifications ends the wait with the limit and its flag, in bounded memory.
func TestFloodOfNotifications(t *testing.T) {
	given := 0
	r := must.Get(Listen(Options{Address: "127.0.0.1:0", Limits: limits.Limits{Events: 3}, On: func(Delivery) { given++ }}))(t)
	defer r.Close()
	for n := range 5 {
		status := post(t, http.MethodPost, r.URL(),
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`,
			http.Header{"X-A2a-Notification-Token": {r.Config().Token}})
		if refused := status == http.StatusTooManyRequests; refused != (n >= 3) {
			t.Errorf("notification %d gets %d", n+1, status)
		}
	}
	if _, err := r.Await(t.Context(), "t", 0); err == nil || !strings.Contains(err.Error(), "more than 3 notifications arrived; --max-events allows more") {
		t.Errorf("got %v", err)
	}
	if given != 3 {
		t.Errorf("%d were handed on", given)
	}
}
