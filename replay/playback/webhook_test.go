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
	"a2atap/replay/client"
	"a2atap/replay/playback"
	"a2atap/replay/refagent"
)

// Recorded notifications go to the webhook of the live client, with its token.
func TestPlaybackNotifies(t *testing.T) {
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			workflow := func(agentURL, hook string, delivered <-chan string) {
				c := connect(t, agentURL, w.protocol)
				r, err := c.Send(t.Context(), client.Text("multi-turn"), client.SendOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.CreatePush(t.Context(), client.PushConfig{TaskID: r.Task.ID, URL: hook, Token: "live-token"}); err != nil {
					t.Fatal(err)
				}
				m := client.Text("done")
				m.TaskID, m.ContextID = r.Task.ID, r.Task.ContextID
				if _, err := c.Send(t.Context(), m, client.SendOptions{}); err != nil {
					t.Fatal(err)
				}
				for {
					select {
					case body := <-delivered:
						if strings.Contains(strings.ToLower(body), "completed") {
							return
						}
					case <-time.After(5 * time.Second):
						t.Fatal("no notification says that the task is completed")
					}
				}
			}
			receive := func() (string, chan string, *[]*capture.Exchange) {
				posts, delivered := &[]*capture.Exchange{}, make(chan string, 100)
				var mu sync.Mutex
				s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil || r.Header.Get("X-A2A-Notification-Token") != "live-token" {
						t.Errorf("notification with %v, token %q", err, r.Header.Get("X-A2A-Notification-Token"))
					}
					head := "POST / HTTP/1.1\r\nHost: hook\r\nContent-Type: " + r.Header.Get("Content-Type") + "\r\nX-A2A-Notification-Token: redacted.0123456789abcdef\r\n\r\n"
					mu.Lock()
					*posts = append(*posts, &capture.Exchange{
						Seq: uint64(100 + len(*posts)), State: capture.StateClosed, Client: capture.Peer{Name: "booker"},
						Request:  capture.Request{Head: []byte(head), Body: capture.Body{Data: body, Complete: true}},
						Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Body: capture.Body{Data: []byte{}, Complete: true}},
					})
					mu.Unlock()
					delivered <- string(body)
				}))
				t.Cleanup(s.Close)
				return s.URL, delivered, posts
			}
			hook, delivered, posts := receive()
			mem := record(t, startAgent(t, w.agent, refagent.Options{Push: true}), func(tapURL string) { workflow(tapURL, hook, delivered) })
			src := capture.NewMemory(capture.Info{})
			for s := range mem.Steps(t.Context(), 1) {
				if err := src.Append(s); err != nil {
					t.Fatal(err)
				}
			}
			for _, x := range *posts {
				if err := src.Append(capture.Steps(x)...); err != nil {
					t.Fatal(err)
				}
			}
			p, origin := perform(t, src, playback.Options{OnMiss: func(m playback.Miss) { t.Error(m) }})
			liveHook, delivered, _ := receive()
			workflow(origin+"/"+w.agent, liveHook, delivered)
			p.Close()
			if r := p.Report(); r.Notified == 0 || r.Undelivered > 0 {
				t.Errorf("%s", r.Verdict())
			}
		})
	}
}
