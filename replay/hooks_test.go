package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/outbound"
	"a2atap/proxy/unreachable"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/internal/agenttest"
)

// far simulates an agent on another machine: its URL, and its dialer.
func far(t *testing.T, agent string) (at string, d *outbound.Dialer) {
	t.Helper()
	to := strings.TrimPrefix(agent, "http://")
	var tunnels sync.WaitGroup
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		there, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusOK)
		here, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			there.Close()
			return
		}
		tunnels.Go(func() {
			io.Copy(there, buffered) //nolint:errcheck // it ends with the connection
			there.(*net.TCPConn).CloseWrite()
		})
		tunnels.Go(func() {
			io.Copy(here, there) //nolint:errcheck // it ends with the connection
			here.Close()
			there.Close()
		})
	}))
	t.Cleanup(func() {
		way.Close()
		tunnels.Wait()
	})
	via := must.Get(outbound.ParseProxy(way.URL, func(string) string { return "" }))(t)
	return "http://agent.example", &outbound.Dialer{Proxy: via}
}

// pushTo is a send with a 1.0 push config.
func pushTo(url, token string) string {
	return fmt.Sprintf(`{"message":{"role":"ROLE_USER","messageId":"m1","parts":[{"text":"hello"}]},`+
		`"configuration":{"taskPushNotificationConfig":{"url":%q,"token":%q}}}`, url, token)
}

// A notifier is a scripted agent that sends its answers to a webhook before it answers. If its address is set, it
// uses that address for receivers instead of the given one.
type notifier struct {
	at   string // HOST:PORT of the receivers; empty uses the config's
	says []string

	mu      sync.Mutex
	configs []a2a.PushConfig
	posted  []string // URLs
}

func (n *notifier) start(t testing.TB) string {
	return startScript(t, script{
		"SendMessage": func(s *said) {
			call := a2a.DecodeRequest(a2a.Request{
				Method: http.MethodPost, Target: "/", Header: s.r.Header.Get, Body: []byte(s.body), HasBody: true, BodyKept: true,
			}, a2a.Known{})
			n.mu.Lock()
			n.configs = append(n.configs, call.PushConfig)
			n.mu.Unlock()
			for _, text := range n.says {
				n.post(t, call.PushConfig, text)
			}
			s.result(snapshot("COMPLETED"))
		},
	})
}

func (n *notifier) post(t testing.TB, config a2a.PushConfig, text string) {
	to := config.URL()
	if to == "" {
		return
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(text)))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-A2A-Notification-Token", config.Get("token").Text())
	if n.at != "" {
		r.Host, r.URL.Host = r.URL.Host, n.at
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Errorf("notify %s: %v", to, err)
		return
	}
	res.Body.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.posted = append(n.posted, fmt.Sprintf("%s %d", to, res.StatusCode))
}

// recordNotified records a notifier, with the requests to the webhook.
func recordNotified(t testing.TB, n *notifier) *capture.Memory {
	t.Helper()
	var mu sync.Mutex
	var posts []*capture.Exchange
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		posts = append(posts, webhookExchange(t, r))
	}))
	defer hook.Close()
	src := record(t, n.start(t), func(tapURL string) {
		ask(t, tapURL, "SendMessage", pushTo(hook.URL+"/hook", "a-token-of-the-client"))
	})
	return withPosts(t, src, posts)
}

// An agent on another machine gets the URL under which it reaches a2atap's receiver. Without such a URL its
// notifications are left out, and the replay does not wait for them.
func TestReplayReceivesFromAfar(t *testing.T) {
	t.Parallel()
	says := []string{status("WORKING"), status("COMPLETED")}
	src := recordNotified(t, &notifier{says: says})
	n := &notifier{says: says}
	at, dialer := far(t, n.start(t))
	r := within(t, src, at, replay.Options{Dialer: dialer, Timeout: time.Hour})
	wantSame(t, r)
	if r.Deliveries.LeftOut != 2 || !strings.Contains(strings.Join(r.Notes, "\n"), "--webhook-url") {
		t.Errorf("without a URL: %+v, notes %q", r.Deliveries, r.Notes)
	}
	n.at = unreachable.Address(t)
	r = must.Get(replay.Run(t.Context(), src, at, replay.Options{
		Dialer: dialer, Timeout: time.Minute,
		Webhook: webhook.Options{Address: n.at, Public: "http://hooks.example/beneath"},
	}))(t)
	wantSame(t, r)
	if r.Deliveries.Received != 2 || len(n.posted) != 2 ||
		!strings.HasPrefix(n.posted[0], "http://hooks.example/beneath/") || !strings.HasSuffix(n.posted[0], " 204") {
		t.Errorf("with a URL: %+v, posted %q", r.Deliveries, n.posted)
	}
}

// An address without a listener, or one that cannot be listened on, is an error before anything is sent.
func TestReplayCannotReceive(t *testing.T) {
	t.Parallel()
	n := &notifier{says: []string{status("COMPLETED")}}
	src, to := recordNotified(t, n), n.start(t)
	asked := len(n.configs)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, err := replay.Run(t.Context(), src, to, replay.Options{Webhook: webhook.Options{Address: l.Addr().String()}})
	if err == nil || !strings.Contains(err.Error(), "listen for notifications on "+l.Addr().String()) ||
		len(n.configs) != asked {
		t.Errorf("got %v, and %d requests", err, len(n.configs)-asked)
	}
	none := record(t, to, func(tapURL string) { ask(t, tapURL, "SendMessage", hello) })
	wantSame(t, within(t, none, to, replay.Options{Webhook: webhook.Options{Address: l.Addr().String()}}))
}

// Other values of the config are passed on if the recording has them; redacted ones are reported.
func TestReplayHandsTokensOn(t *testing.T) {
	t.Parallel()
	n := &notifier{says: []string{status("COMPLETED")}}
	hidden := recordNotified(t, n)
	shown := edited(t, hidden, func(x *capture.Exchange) {
		if !bytes.Contains(x.Request.Body.Data, []byte("taskPushNotificationConfig")) {
			return
		}
		begin := bytes.Index(x.Request.Body.Data, []byte(`"token":"`)) + len(`"token":"`)
		end := begin + bytes.IndexByte(x.Request.Body.Data[begin:], '"')
		x.Request.Body.Data = bytes.Join([][]byte{
			x.Request.Body.Data[:begin], []byte("kept-by-the-user"), x.Request.Body.Data[end:],
		}, nil)
	})
	for _, test := range []struct {
		src   capture.Source
		token string
		notes int
	}{{shown, "kept-by-the-user", 0}, {hidden, "redacted", 1}} {
		n := &notifier{says: []string{status("COMPLETED")}}
		r := within(t, test.src, n.start(t), replay.Options{})
		wantSame(t, r)
		if got := n.configs[0].Token(); !strings.HasPrefix(got, test.token) || len(r.Notes) != test.notes {
			t.Errorf("the agent got the token %q, notes %q; want %s and %d", got, r.Notes, test.token, test.notes)
		}
		if test.notes > 0 && !strings.Contains(r.Notes[0], "the token in the push config of exchange 1 was redacted") {
			t.Errorf("the note is %q", r.Notes[0])
		}
	}
}

// Credentials for one agent go to no other agent.
func TestReplayKeepsCredentialsApart(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]map[string]bool{}
	agent := func(name string) string {
		return startScript(t, script{"SendMessage": func(s *said) {
			mu.Lock()
			defer mu.Unlock()
			if seen[name] == nil {
				seen[name] = map[string]bool{}
			}
			seen[name][s.r.Header.Get("Authorization")] = true
			s.result(snapshot("COMPLETED"))
		}})
	}
	agents := map[string]string{"booker": agent("booker"), "planner": agent("planner"), "hotels": agent("hotels")}
	src := agenttest.Record(t, agenttest.Recording{}, agents, func(taps map[string]string) {
		for _, tap := range taps {
			c := must.Get(client.New(
				client.Interface{URL: tap, Protocol: client.JSONRPC10}, client.Options{Token: "s3cret-as-recorded"},
			))(t)
			must.Get(c.Send(t.Context(), client.Text("hello"), client.SendOptions{}))(t)
			c.Close()
		}
	})
	clear(seen)
	bearer := func(token string) replay.Authorizer {
		return func(_ context.Context, out *client.Outgoing) error {
			out.Header.Set("Authorization", "Bearer "+token)
			return nil
		}
	}
	r := within(t, src, "", replay.Options{
		Agents: agents, Authorize: bearer("of-others"),
		AuthorizeAgent: map[string]replay.Authorizer{"booker": bearer("of-booker"), "hotels": nil},
	})
	wantSame(t, r)
	want := map[string]map[string]bool{
		"booker": {"Bearer of-booker": true}, "planner": {"Bearer of-others": true}, "hotels": {"": true},
	}
	expect.Same(t, "credentials by agent", want, seen)
}
