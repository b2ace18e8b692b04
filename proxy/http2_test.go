package proxy_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/unreachable"
)

// newHTTP2Agent starts an agent that speaks HTTP/2, in the clear with prior knowledge, or with TLS.
func newHTTP2Agent(t *testing.T, secure bool, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	agent := httptest.NewUnstartedServer(handler)
	agent.Config.ErrorLog = discardLog
	if secure {
		agent.EnableHTTP2 = true
		agent.StartTLS()
	} else {
		agent.Config.Protocols = new(http.Protocols)
		agent.Config.Protocols.SetUnencryptedHTTP2(true)
		agent.Start()
	}
	t.Cleanup(agent.Close)
	return agent
}

// rootsOf returns what verifies the certificate of an agent.
func rootsOf(agent *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(agent.Certificate())
	return pool
}

// newHTTP2Client returns a client of HTTP/2 with prior knowledge.
func newHTTP2Client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 4 * must.Patience}
}

// A tap takes HTTP/2 on the port of HTTP/1.1, to agents in the clear and on TLS, and records both.
func TestHTTP2ThroughTap(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint(secure), func(t *testing.T) {
			agent := newHTTP2Agent(t, secure, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"proto":%q,"host":%q,"got":%q}`, r.Proto, r.Host, body)
			})
			r := newRig(t, func(o *proxy.Options, _ *recording.Options) {
				if secure {
					o.RootCAs = rootsOf(agent)
				}
			}, "echo="+agent.URL)
			_, got := fetch(t, newHTTP2Client(t), "POST", r.tap(0).URL(), strings.NewReader("hello"))
			want := fmt.Sprintf(`{"proto":"HTTP/2.0","host":%q,"got":"hello"}`, agent.Listener.Addr())
			expect.Equal(t, "", want, got)
			x := r.record()[0]
			h := capture.ParseRequestHead(x.Request.Head)
			if h.Version != "HTTP/2" || h.Fields.Get("Host") != r.tap(0).Addr() || len(h.Bad) > 0 || x.Fault != nil ||
				string(x.Response.Body.Data) != want || !x.Response.Body.Complete || x.Agent.Name != "echo" {
				t.Errorf("recorded as %+v, %+v", h, x)
			}
		})
	}
}

// If an agent on TLS does not speak HTTP/2, a client that does gets an error with that reason.
func TestHTTP2ToAgentWithout(t *testing.T) {
	agent := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(agent.Close)
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.RootCAs = rootsOf(agent) }, "old="+agent.URL)
	res, got := get(t, newHTTP2Client(t), r.tap(0).URL())
	if res.StatusCode != 502 || !strings.Contains(got, "does not support HTTP/2") && !strings.Contains(got, "protocol") {
		t.Errorf("got %d, %s", res.StatusCode, got)
	}
	if x := r.record()[0]; x.Fault == nil || x.Fault.Side != "agent" {
		t.Errorf("fault %+v", x.Fault)
	}
}

// The card leads back to the tap over HTTP/2, too, whatever credit the client gives.
func TestCardOverHTTP2(t *testing.T) {
	for _, window := range []int{0, 1} {
		var card string
		agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, card)
		})
		card = fmt.Sprintf(`{"name":"x","url":"%s/rpc","skills":[],"capabilities":{},"description":%q}`, agent.URL,
			strings.Repeat("long ", 20_000>>(4*window)))
		r := newRig(t, nil, "x="+agent.URL)
		client := newHTTP2Client(t)
		client.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: window}
		for range 3 {
			_, got := get(t, client, r.tap(0).URL()+"/.well-known/agent-card.json")
			want := strings.Replace(card, agent.URL, "http://"+r.tap(0).Addr(), 1)
			if got != want {
				t.Fatalf("window %d: got %d bytes, %.80s, want %d, %.80s", window, len(got), got, len(want), want)
			}
		}
		x := r.record()[0]
		if now(x)["response.body#/url"] != "http://"+r.tap(0).Addr()+"/rpc" || string(x.Response.Body.Data) != card {
			t.Errorf("recorded %v and %.80s", x.Rewrites, x.Response.Body.Data)
		}
	}
}

// Inside CONNECT a client speaks HTTP/2 in the clear, or on TLS if the agent takes it, and is observed.
func TestHTTP2ThroughForward(t *testing.T) {
	for name, test := range map[string]struct {
		secure, mayHTTP1, agentHTTP2 bool
		want                         string
	}{
		"in the clear":           {false, false, true, "HTTP/2.0"},
		"TLS, h2 alone":          {true, false, true, "HTTP/2.0"},
		"TLS, both":              {true, true, true, "HTTP/2.0"},
		"TLS, both, agent of h1": {true, true, false, "HTTP/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			echo := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto+" "+r.Host) }
			agent := newHTTP2Agent(t, test.secure, echo)
			if !test.agentHTTP2 {
				agent = way{test.secure}.agent(t, echo)
			}
			f := newForwardRig(t, nil)
			address := agent.Listener.Addr().String()
			client := f.client("")
			transport := client.Transport.(*http.Transport)
			transport.Protocols = new(http.Protocols)
			transport.Protocols.SetHTTP1(test.mayHTTP1)
			transport.Protocols.SetHTTP2(test.secure)
			if !test.secure {
				transport.Protocols.SetUnencryptedHTTP2(true)
				transport.Proxy = nil
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
					conn := f.dial()
					f.connect(conn, address, "")
					return conn, nil
				}
			}
			for range 2 {
				if _, got := get(t, client, agent.URL); got != test.want+" "+address {
					t.Errorf("got %s", got)
				}
			}
			client.CloseIdleConnections()
			f.follow(closings(2))
			for _, x := range f.record() {
				h := capture.ParseRequestHead(x.Request.Head)
				if h.Method != "GET" || h.Version+".0" != test.want && h.Version != test.want || h.Fields.Get("Host") != address ||
					x.Fault != nil || len(x.Notes) > 0 || x.Agent.Addr != address {
					t.Errorf("recorded %+v, %v, %v", h, x.Fault, x.Notes)
				}
			}
		})
	}
}

// An agent of HTTP/2 that is not there is a 502 inside TLS, for a client that may speak HTTP/1.1, and no answer at all for
// one that may not.
func TestHTTP2ThroughForwardToNobody(t *testing.T) {
	f := newForwardRig(t, nil)
	client := f.client("")
	transport := client.Transport.(*http.Transport)
	transport.ForceAttemptHTTP2 = true
	if res, got := get(t, client, "https://"+unreachable.Address(t)); res.StatusCode != 502 || !strings.Contains(got, "connect to the agent") {
		t.Errorf("got %d, %s", res.StatusCode, got)
	}
}

// Cards that are asked for at once are all there, whatever credit there is on the connection.
func TestCardsAtOnceOverHTTP2(t *testing.T) {
	var card string
	agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, card)
	})
	card = fmt.Sprintf(`{"name":"x","url":"%s/rpc","skills":[],"capabilities":{},"description":%q}`, agent.URL,
		strings.Repeat("long ", 20_000))
	r := newRig(t, nil, "x="+agent.URL)
	want := strings.Replace(card, agent.URL, "http://"+r.tap(0).Addr(), 1)
	client := newHTTP2Client(t)
	client.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{
		MaxReceiveBufferPerConnection: 64 << 10, MaxReceiveBufferPerStream: 64 << 10,
	}
	var wait sync.WaitGroup
	for range 30 {
		wait.Go(func() {
			res, err := client.Get(r.tap(0).URL() + "/.well-known/agent-card.json")
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if got, err := io.ReadAll(res.Body); err != nil || string(got) != want {
				t.Errorf("got %d bytes and %v, want %d", len(got), err, len(want))
			}
		})
	}
	wait.Wait()
}

// Webhooks in JSON are led through the tap over HTTP/2, too, and notifications come over HTTP/1.1.
func TestWebhooksOverHTTP2(t *testing.T) {
	receiver := newTaker(t, nil)
	var got string
	agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = string(body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(body) // which names the address that it was given
	})
	r := newRig(t, withWebhooks, "x="+agent.URL)
	_, answer := post(t, newHTTP2Client(t), r.tap(0).URL(), setConfig(receiver.URL))
	expect.Equal(t, "the client", setConfig(receiver.URL), answer)
	addresses := given(got)
	if len(addresses) != 1 {
		t.Fatalf("the agent got %s", got)
	}
	post(t, newClient(t), addresses[0], `{"notification":1}`)
	if got := receiver.last(t); !strings.HasSuffix(got, `{"notification":1}`) {
		t.Errorf("the webhook got %s", got)
	}
}

// newConfigured starts an agent of HTTP/2 that says what address it was given for a webhook.
func newConfigured(t *testing.T) (agent *httptest.Server, address <-chan string) {
	configured := make(chan string, 10)
	return newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, at := range given(string(body)) {
			configured <- at
		}
		io.WriteString(w, "agent")
	}), configured
}

// A notification that comes over HTTP/2 goes to the webhook over HTTP/2, and is recorded from the agent to who configured
// it. Calls on the same connection go to the agent, in the middle of it.
func TestDeliveryOverHTTP2(t *testing.T) {
	large := `{"large":"` + strings.Repeat("x", 3<<20) + `"}`
	var last string
	hook := newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if last = r.Method + " " + r.RequestURI + " " + string(body); err != nil || r.Host != r.Context().Value(http.LocalAddrContextKey).(net.Addr).String() {
			t.Errorf("the webhook was asked for %s: %v", r.Host, err)
		}
		w.Header()["X-Receiver"] = []string{r.Proto, r.Header.Get("X-A2A-Notification-Token"), r.UserAgent()}
		w.Header().Set(http.TrailerPrefix+"X-After", "all")
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, "taken "+strings.Repeat("y", len(body)))
	})
	agent, address := newConfigured(t)
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	client := newHTTP2Client(t)
	post(t, client, r.tap(0).URL(), setConfig(hook.URL+"/h?x=1"))
	at := <-address
	for _, body := range []string{notification, large} {
		answer, text := post(t, client, at+"?validationToken=v", body, "X-A2A-Notification-Token", "s")
		if answer.StatusCode != 202 || text != "taken "+strings.Repeat("y", len(body)) || answer.Trailer.Get("X-After") != "all" ||
			strings.Join(answer.Header["X-Receiver"], " ") != "HTTP/2.0 s planner/1" {
			t.Errorf("the agent got %s, %.50q, %v, %v", answer.Status, text, answer.Header, answer.Trailer)
		}
		expect.Equal(t, "the webhook", "POST /h?x=1&validationToken=v "+body, last)
	}
	foreign := strings.Replace(at, "webhook/", "webhook/x", 1)
	if answer, text := post(t, client, foreign, notification); answer.StatusCode != 403 || !strings.Contains(text, "--redaction-key") {
		t.Errorf("a foreign address: %s %s", answer.Status, text)
	}
	hook.Close()
	for _, want := range []string{"the webhook", "connect to the webhook at 127.0.0.1"} { // a connection may be there still
		answer, text := post(t, client, at, notification)
		if answer.StatusCode != 502 || !strings.Contains(text, want) {
			t.Errorf("a webhook that is down: %s %s", answer.Status, text)
		}
	}
	xs := r.record()
	if len(xs) != 6 {
		t.Fatalf("%d exchanges", len(xs))
	}
	x := xs[1]
	if x.Client.Name != "booker" || x.Client.How != "webhook" || x.Agent.URL != hook.URL || x.Fault != nil ||
		!strings.HasPrefix(string(x.Request.Head), "POST /h?x=1&validationToken=v HTTP/2\r\nhost: "+hook.Listener.Addr().String()) ||
		string(x.Request.Body.Data) != notification || !strings.HasPrefix(string(x.Response.Body.Data), "taken y") ||
		!strings.Contains(string(x.Response.Trailer), "x-after: all") || !x.Response.Body.Complete {
		t.Errorf("recorded is %+v, %s", x, x.Request.Head)
	}
	for i, kind := range []string{"", "", "", "refused", "truncated", "unreachable"} {
		got := xs[i].Fault
		if got != nil && i == 4 {
			kind = got.Kind // as the connection was
		}
		if kind == "" && got != nil || kind != "" && (got == nil || got.Kind != kind) {
			t.Errorf("exchange %d has the fault %v, want %s", i+1, got, kind)
		}
	}
}

// Calls and notifications share a connection of HTTP/2, and an agent of it that leaves a notification ends it.
func TestDeliveriesAmongCallsOverHTTP2(t *testing.T) {
	asked, left := make(chan struct{}), make(chan struct{})
	hook := newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Wait") == "" {
			io.WriteString(w, "hook")
			return
		}
		close(asked)
		<-r.Context().Done()
		close(left)
	})
	agent, given := newConfigured(t)
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	client := newHTTP2Client(t)
	post(t, client, r.tap(0).URL(), setConfig(hook.URL))
	address := <-given
	ctx, leave := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		request, _ := http.NewRequestWithContext(ctx, "POST", address, strings.NewReader("{}"))
		request.Header.Set("X-Wait", "1")
		_, err := client.Do(request)
		done <- err
	}()
	<-asked
	for _, step := range []struct{ to, want string }{
		{r.tap(0).URL(), "agent"},
		{address, "hook"},
		{r.tap(0).URL(), "agent"},
		{address, "hook"},
	} {
		if _, got := post(t, client, step.to, "{}"); got != step.want {
			t.Errorf("%s is answered by %q, want %q", step.to, got, step.want)
		}
	}
	leave()
	expect.Error(t, "who left has an answer", <-done)
	<-left
	conns := make(map[uint64]int)
	gone := 0
	for _, x := range r.record() {
		if conns[x.Conn]++; x.Fault != nil && x.Fault.Kind == "client-left" {
			gone++
		}
	}
	if len(conns) != 1 || gone != 1 {
		t.Errorf("exchanges of connections: %v, %d were left", conns, gone)
	}
}
