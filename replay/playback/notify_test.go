package playback_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/unreachable"
	"a2atap/replay/client"
	"a2atap/replay/playback"
)

const rpcHead = "POST /rpc HTTP/1.1\r\nHost: agent\r\nContent-Type: application/json\r\n\r\n"

// recorded returns a closed exchange that began the given time after the first.
func recorded(seq uint64, at time.Duration, head, body, answer string) *capture.Exchange {
	x := &capture.Exchange{
		Seq: seq, State: capture.StateClosed, Started: time.Unix(1700000000, 0).Add(at).UTC(),
		Agent: capture.Peer{Name: "booker", URL: "http://agent/rpc"},
		Request: capture.Request{
			Head: []byte(head), Body: capture.Body{Data: []byte(body), Complete: true},
		},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
			Body: capture.Body{Data: []byte(answer), Complete: true},
		},
	}
	return x
}

// notified is a recording of a task with two webhooks: one set by the send, one by a separate config.
func notified(t testing.TB) *capture.Memory {
	t.Helper()
	const task = `{"id":"task-1","contextId":"context-1","status":{"state":"TASK_STATE_WORKING"}}`
	send := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER",` +
		`"parts":[{"text":"hello"}]},"configuration":{"taskPushNotificationConfig":` +
		`{"url":"http://was.example/one","token":"redacted.0123456789abcdef.00000000"}}}}`
	create := `{"jsonrpc":"2.0","id":2,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"task-1",` +
		`"id":"c-2","url":"http://was.example/two?a=b"}}`
	created := `{"jsonrpc":"2.0","id":2,"result":{"taskId":"task-1","id":"c-2","url":"http://was.example/two?a=b"}}`
	post := func(seq uint64, at time.Duration, target, state string) *capture.Exchange {
		x := recorded(seq, at, "POST "+target+" HTTP/1.1\r\nHost: was.example\r\nContent-Type: application/json\r\n"+
			"X-A2A-Notification-Token: redacted.0123456789abcdef.00000000\r\nAuthorization: Bearer old\r\nX-Own: kept\r\n\r\n",
			`{"statusUpdate":{"taskId":"task-1","contextId":"context-1","status":{"state":"`+state+`"}}}`, "")
		x.Agent = capture.Peer{Name: "client", URL: "http://was.example" + target}
		return x
	}
	m := capture.NewMemory(capture.Info{})
	for _, x := range []*capture.Exchange{
		recorded(1, 0, rpcHead, send, `{"jsonrpc":"2.0","id":1,"result":{"task":`+task+`}}`),
		post(2, 40*time.Millisecond, "/one", "TASK_STATE_WORKING"),
		post(3, 80*time.Millisecond, "/one", "TASK_STATE_COMPLETED"),
		recorded(4, time.Minute, rpcHead, create, created),
		post(5, time.Minute+10*time.Millisecond, "/two?a=b", "TASK_STATE_COMPLETED"),
	} {
		must.Do(t, m.Append(capture.Steps(x)...))
	}
	return m
}

// A hook is a webhook that records its notifications.
type hook struct {
	url    string
	status int

	mu   sync.Mutex
	got  []string
	told chan struct{}
}

func newHook(t *testing.T, status int) *hook {
	h := &hook{status: status, told: make(chan struct{}, 10)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 1000)
		n, _ := r.Body.Read(body) //nolint:errcheck // what was read is compared
		_, state, _ := strings.Cut(string(body[:n]), "TASK_STATE_")
		h.mu.Lock()
		h.got = append(h.got, fmt.Sprintf("%s %s token %q, %q, own %q", r.URL, strings.TrimRight(state, `"}`),
			r.Header.Get("X-A2A-Notification-Token"), r.Header.Get("Authorization"), r.Header.Get("X-Own")))
		h.mu.Unlock()
		w.WriteHeader(h.status)
		h.told <- struct{}{}
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

// wait returns n deliveries.
func (h *hook) wait(t *testing.T, n int) []string {
	t.Helper()
	for range n {
		select {
		case <-h.told:
		case <-time.After(must.Patience):
			t.Fatal("no notification came")
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.got
}

func sendWith(t *testing.T, origin, hookURL string) *client.Client {
	t.Helper()
	c := must.Get(client.New(client.Interface{URL: origin + "/rpc", Protocol: client.JSONRPC10}, client.Options{}))(t)
	t.Cleanup(c.Close)
	push := client.PushConfig{URL: hookURL, Token: "live-token", Scheme: "Bearer", Credentials: "live-secret"}
	must.Get(c.Send(t.Context(), client.Text("other words"), client.SendOptions{Push: &push}))(t)
	return c
}

// Each webhook of the client gets the notifications of its recorded counterpart: in order, at the recorded pace, with
// the client's token and credentials. Answers name the client's webhook.
func TestNotificationsGoToTheirWebhooks(t *testing.T) {
	one, two := newHook(t, 200), newHook(t, 204)
	n := newTold()
	p, origin := perform(t, notified(t), playback.Options{Speed: 1, OnNotice: n.notice})
	begun := time.Now()
	c := sendWith(t, origin, one.url+"/mine")
	got := one.wait(t, 2)
	if spent := time.Since(begun); spent < 80*time.Millisecond {
		t.Errorf("the second notification came after %s, recorded 80ms", spent)
	}
	want := []string{
		`/mine WORKING token "live-token", "Bearer live-secret", own "kept"`,
		`/mine COMPLETED token "live-token", "Bearer live-secret", own "kept"`,
	}
	expect.Same(t, "the first webhook", want, got)
	created, err := c.CreatePush(t.Context(), client.PushConfig{TaskID: "task-1", URL: two.url + "/other"})
	if err != nil || created.URL != two.url+"/other" {
		t.Errorf("the config is answered with %+v, %v; want its own URL", created, err)
	}
	want = []string{`/other COMPLETED token "", "", own "kept"`}
	expect.Same(t, "the second webhook", want, two.wait(t, 1))
	p.Close()
	if r := p.Report(); r.Notified != 3 || r.Undelivered != 0 {
		t.Errorf("%s", r.Verdict())
	}
	if got := n.take(); len(got) > 0 {
		t.Errorf("notices %q", got)
	}
}

// A rejected notification, or one to a webhook elsewhere, is reported without the secrets in its URL.
func TestNotificationsThatAreNotDelivered(t *testing.T) {
	refuses := newHook(t, http.StatusForbidden)
	gone := "http://" + unreachable.Address(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect is followed: %s %s", r.Method, r.URL)
	}))
	defer elsewhere.Close()
	leads := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer leads.Close()
	for _, test := range []struct{ name, url, at, why string }{
		{"refused", refuses.url + "/secret?token=x", refuses.url, "it answered 403 Forbidden"},
		{"redirected", leads.URL + "/secret", leads.URL, "it answered 307 Temporary Redirect"},
		{"nobody there", gone + "/secret", gone, "connection refused"},
		{"on another machine", "http://192.0.2.1:9/secret", "http://192.0.2.1:9", "on another machine; add --allow-remote"},
		{"all addresses", "http://0.0.0.0:9/secret", "http://0.0.0.0:9", "on another machine; add --allow-remote"},
		{"not http", "gopher://127.0.0.1:9/secret", "gopher://127.0.0.1:9", "unsupported protocol scheme"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newTold()
			p, origin := perform(t, notified(t), playback.Options{OnNotice: n.notice})
			sendWith(t, origin, test.url)
			got := n.wait(t, 2)
			want := "the notification of exchange 2 was not delivered to " + test.at + ": "
			if len(got) != 2 || !strings.HasPrefix(got[0], want) || !strings.Contains(got[0], test.why) ||
				strings.Contains(got[0], "secret") {
				t.Errorf("notices %q; want %q and %q", got, want, test.why)
			}
			p.Close()
			if r := p.Report(); r.Notified != 0 || r.Undelivered != 2 ||
				!strings.Contains(r.Verdict(), "0 notifications delivered, 2 not") {
				t.Errorf("%s", r.Verdict())
			}
		})
	}
}

// Notifications that are pending when a player is closed are counted, and do not delay closing.
func TestCloseEndsNotifications(t *testing.T) {
	p, origin := perform(t, notified(t), playback.Options{Speed: 1e-6})
	sendWith(t, origin, "http://127.0.0.1:9")
	p.Close()
	if r := p.Report(); r.Undelivered != 2 {
		t.Errorf("%s", r.Verdict())
	}
}
