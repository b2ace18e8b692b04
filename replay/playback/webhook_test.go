package playback_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/playback"
	"a2atap/replay/refagent"
)

// A receiver is a webhook that requires the token "live-token" and keeps its deliveries, as a recorder would.
type receiver struct {
	url       string
	delivered chan string // bodies

	mu    sync.Mutex
	posts []*capture.Exchange
}

func receive(t *testing.T) *receiver {
	r := &receiver{delivered: make(chan string, 100)}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if token := req.Header.Get("X-A2A-Notification-Token"); err != nil || token != "live-token" {
			t.Errorf("notification with %v, token %q", err, token)
		}
		r.keep(req, body)
		r.delivered <- string(body)
	}))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

func (r *receiver) keep(req *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	head := "POST / HTTP/1.1\r\nHost: hook\r\nContent-Type: " + req.Header.Get("Content-Type") +
		"\r\nX-A2A-Notification-Token: redacted.0123456789abcdef\r\n\r\n"
	r.posts = append(r.posts, &capture.Exchange{
		Seq: uint64(100 + len(r.posts)), State: capture.StateClosed, Client: capture.Peer{Name: "booker"},
		Request: capture.Request{Head: []byte(head), Body: capture.Body{Data: body, Complete: true}},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 200 OK\r\n\r\n"),
			Body: capture.Body{Data: []byte{}, Complete: true},
		},
	})
}

// completed waits for the notification that the task is completed.
func (r *receiver) completed(t *testing.T) {
	t.Helper()
	for {
		select {
		case body := <-r.delivered:
			if strings.Contains(strings.ToLower(body), "completed") {
				return
			}
		case <-time.After(must.Patience):
			t.Fatal("no notification says that the task is completed")
		}
	}
}

// pushed creates a task, subscribes to its notifications, and completes it.
func pushed(t *testing.T, agentURL string, p client.Protocol, hook *receiver) {
	t.Helper()
	c := connect(t, agentURL, p)
	r := send(t, c, "multi-turn")
	must.Get(c.CreatePush(t.Context(),
		client.PushConfig{TaskID: r.ID, URL: hook.url, Token: "live-token"}))(t)
	m := client.Text("done")
	m.TaskID, m.ContextID = r.ID, r.ContextID
	must.Get(c.Send(t.Context(), m, client.SendOptions{}))(t)
	hook.completed(t)
}

// Recorded notifications go to the webhook of the live client, with its token.
func TestPlaybackNotifies(t *testing.T) {
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			was := receive(t)
			agent := agenttest.Start(t, w.agent, refagent.Options{Push: true, Bindings: []string{w.protocol.Binding}})
			mem := record(t, agent, func(tapURL string) { pushed(t, tapURL, w.protocol, was) })
			src := capture.NewMemory(capture.Info{})
			for s := range mem.Steps(t.Context(), 1) {
				must.Do(t, src.Append(s))
			}
			for _, x := range was.posts {
				must.Do(t, src.Append(capture.Steps(x)...))
			}
			p, origin := perform(t, src, playback.Options{OnMiss: func(m playback.Miss) { t.Error(m) }})
			pushed(t, origin+"/"+w.agent, w.protocol, receive(t))
			p.Close()
			if r := p.Report(); r.Notified == 0 || r.Undelivered > 0 {
				t.Errorf("%s", r.Verdict())
			}
		})
	}
}
