package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// Plain HTTP inside CONNECT is observed like any other, and so are bytes that arrive together with CONNECT.
func TestPlainHTTPInsideConnect(t *testing.T) {
	agent := newAgent(t, func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, r.Method+" "+r.Host) })
	addr := agent.Listener.Addr().String()
	f := newForwardRig(t, nil)
	conn := f.dial()
	write(t, conn, "CONNECT "+addr+" HTTP/1.1\r\nHost: "+addr+"\r\n\r\nDELETE /x HTTP/1.1\r\nHost: "+addr+
		"\r\nConnection: close\r\n\r\n")
	receive(t, conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	text, err := io.ReadAll(conn)
	if err != nil || !strings.HasSuffix(string(text), "DELETE "+addr) {
		t.Errorf("got %q, %v", text, err)
	}
	x := f.record()[0]
	if head := string(x.Request.Head); !strings.HasPrefix(head, "DELETE /x ") || x.Agent.URL != "http://"+addr ||
		len(x.Notes) != 0 {
		t.Errorf("recorded %q for %v, notes %q", head, x.Agent, x.Notes)
	}
}

// All requests inside CONNECT go where CONNECT says. What says otherwise is noted, and not followed.
func TestRequestsArePinnedToConnect(t *testing.T) {
	var mu sync.Mutex
	var hosts []string
	agent := (way{true}).agent(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		hosts = append(hosts, r.Host+" "+r.TLS.ServerName)
	})
	addr := agent.Listener.Addr().String()
	f := newForwardRig(t, nil)
	conn := f.dial()
	f.connect(conn, addr, "")
	// for which the agent has a certificate
	session := tls.Client(conn, &tls.Config{RootCAs: f.roots, ServerName: "example.com"})
	in := bufio.NewReader(session)
	for _, host := range []string{addr, "elsewhere.example", "example.com:" + strings.Split(addr, ":")[1]} {
		write(t, session, "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
		if answer, err := http.ReadResponse(in, nil); err != nil || answer.StatusCode != 200 {
			t.Fatalf("got %v, %v", answer, err)
		}
	}
	session.Close()
	want := []string{
		addr + " example.com", "elsewhere.example example.com",
		"example.com:" + strings.Split(addr, ":")[1] + " example.com",
	}
	if !slices.Equal(hosts, want) {
		t.Errorf("the agent saw %q, want %q", hosts, want)
	}
	record := f.record()
	var notes []string
	for _, x := range record {
		notes = append(notes, strings.Join(x.Notes, "|"))
		expect.Equal(t, "agent", addr, x.Agent.Name)
	}
	if !strings.HasPrefix(notes[0], "TLS is for example.com inside CONNECT to "+addr) ||
		strings.Contains(notes[0], "|") ||
		notes[1] != "Host is elsewhere.example inside CONNECT to "+addr+": the request was sent to the latter" ||
		!strings.HasPrefix(notes[2], "Host is example.com:") {
		t.Errorf("notes %q", notes)
	}
}

// The proxy does not connect to itself, by whatever name, and leaves to its taps what they record.
func TestForwardToItself(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hi") })
	f := newForwardRig(t, nil, "booker="+agent.URL)
	self := f.forward.Addr()
	_, port, _ := net.SplitHostPort(self)
	conn := f.dial()
	write(t, conn, "CONNECT localhost:"+port+" HTTP/1.1\r\nHost: x\r\n\r\n")
	if status, mark, text := ownAnswer(t, conn); status != 403 || mark != relay.KindRefused ||
		!strings.Contains(text, "loop") {
		t.Errorf("CONNECT: got %d %s %s", status, mark, text)
	}
	answer := cardRequestOf(t, self, "GET http://"+self+"/ HTTP/1.1\r\nHost: "+self+"\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 502 ") || !strings.Contains(answer, "loop") {
		t.Errorf("GET: got %s", answer)
	}
	if _, body := get(t, f.client(""), f.tap(0).URL()); body != "hi" {
		t.Errorf("through the tap: got %s", body)
	}
	record := f.record()
	if len(record) != 3 || record[2].Agent.Name != "booker" ||
		!strings.HasPrefix(string(record[2].Request.Head), "GET / ") {
		t.Errorf("%d exchanges are recorded: %+v", len(record), record)
	}
}

// A tap that is reached through the forward proxy records the client of the forward proxy, so that its process is found,
// and each client once.
func TestForwardToATap(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, "hi") })
	f := newForwardRig(t, nil, "booker="+agent.URL)
	tap := strings.TrimPrefix(f.tap(0).URL(), "http://")
	const clients, requests = 20, 3
	var calling sync.WaitGroup
	for n := range 2 * clients {
		calling.Go(func() {
			to, target := f.forward.Addr(), "http://"+tap
			if n >= clients {
				to, target = tap, "" // without the forward proxy
			}
			conn := must.Get(net.Dial("tcp", to))(t)
			defer conn.Close()
			in := bufio.NewReader(conn)
			for range requests {
				write(t, conn, "GET "+target+"/ HTTP/1.1\r\nHost: "+tap+"\r\nX-From: "+conn.LocalAddr().String()+"\r\n\r\n")
				answer := must.Get(http.ReadResponse(in, nil))(t)
				must.Get(io.Copy(io.Discard, answer.Body))(t)
			}
		})
	}
	calling.Wait()
	record := f.record()
	expect.Equal(t, "exchanges", 2*clients*requests, len(record))
	for _, x := range record {
		head := capture.ParseRequestHead(x.Request.Head)
		expect.Equal(t, "client", head.Fields.Get("X-From"), x.Client.Addr)
	}
}

// Without the right credentials nothing gets through, and the client is asked for them.
func TestForwardCredentials(t *testing.T) {
	agent := newAgent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hi") })
	secure := (way{true}).agent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hi") })
	f := newForwardRig(t, func(o *proxy.Options) {
		auth := must.Get(forward.ParseCredentials("planner:a:b"))(t)
		o.Forward.Auth, o.Forward.Listen, o.AllowRemote = auth, "0.0.0.0:0", true
	})
	if !strings.HasPrefix(f.forward.URL(), "http://127.0.0.1:") {
		t.Errorf("URL %s", f.forward.URL())
	}
	for user, status := range map[string]int{"": 407, "planner": 407, "planner:b": 407, "planner:a:b": 200} {
		answer, _ := get(t, f.client(user), agent.URL)
		if answer.StatusCode != status ||
			(status == 407) != strings.HasPrefix(answer.Header.Get("Proxy-Authenticate"), `Basic realm="a2atap"`) {
			t.Errorf("%q: got %s, %v", user, answer.Status, answer.Header)
		}
		answer, err := f.client(user).Get(secure.URL)
		if (err == nil) != (status == 200) || err != nil &&
			!strings.Contains(err.Error(), "Proxy Authentication Required") {
			t.Errorf("%q inside CONNECT: %v", user, err)
		}
		if err == nil {
			answer.Body.Close()
		}
	}
	for _, x := range f.record() {
		if refused := x.Fault != nil; refused != (x.Response == nil) {
			t.Errorf("recorded %v, %v", x.Fault, x.Response)
		}
		if x.Response != nil && x.Client.Name != "planner" {
			t.Errorf("client %s", x.Client.Name)
		}
	}
}

func TestForwardListenErrors(t *testing.T) {
	busy := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer busy.Close()
	recorder := recording.New(recording.Options{Sink: capture.NewMemory(capture.Info{})})
	defer recorder.Close(context.Background())
	tests := map[string]struct {
		listen      string
		allowRemote bool
		agents      []string
		want        string
	}{
		"remote":              {"0.0.0.0:0", false, nil, "--allow-remote"},
		"remote, nobody asks": {"0.0.0.0:0", true, nil, "--proxy-auth USER:PASS"},
		"in use":              {busy.Addr().String(), false, nil, "choose another port with --forward"},
		"no address":          {"127.0.0.1:none", false, nil, "open the forward proxy"},
	}
	for name, test := range tests {
		_, err := proxy.New(proxy.Options{
			Recorder: recorder, AllowRemote: test.allowRemote, Forward: &forward.Spec{Listen: test.listen},
		})
		expect.ErrorHas(t, name, test.want, err)
	}
}

// A client that does not trust a2atap's authority fails, and the user learns why and what to do.
func TestClientThatDoesNotTrustUs(t *testing.T) {
	agent := (way{true}).agent(t, func(http.ResponseWriter, *http.Request) {})
	f := newForwardRig(t, nil)
	client := f.client("")
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs = testRoots(t)
	if _, err := client.Get(agent.URL); err == nil {
		t.Fatal("no error")
	}
	if text := f.notice(); !strings.Contains(text, agent.Listener.Addr().String()) ||
		!strings.Contains(text, "a2atap ca install") || !strings.Contains(text, "a2atap ca env") ||
		!strings.Contains(text, "are tunneled and not observed") {
		t.Errorf("notice %q", text)
	}
	f.follow(isClosed)
	x := f.record()[0]
	if x.Fault == nil || x.Fault.Kind != relay.KindTLS || x.Fault.Side != relay.SideClient || len(x.Notes) != 1 {
		t.Errorf("recorded %v, notes %q", x.Fault, x.Notes)
	}
}

// A client that speaks HTTP/1.0 alone is opened like any other; one whose TLS is too old is reported, with what helps.
func TestClientsWithOddTLS(t *testing.T) {
	agent := (way{true}).agent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hi") })
	addr := agent.Listener.Addr().String()
	f := newForwardRig(t, nil)
	conn := f.dial()
	f.connect(conn, addr, "")
	session := tls.Client(conn,
		&tls.Config{RootCAs: f.roots, ServerName: "127.0.0.1", NextProtos: []string{"http/1.0"}})
	write(t, session, "GET / HTTP/1.0\r\n\r\n")
	if text, err := io.ReadAll(session); err != nil || !strings.HasSuffix(string(text), "hi") {
		t.Errorf("got %q, %v", text, err)
	}
	old := f.dial()
	f.connect(old, addr, "")
	expect.Error(t, "TLS 1.1 was taken", tls.Client(old,
		&tls.Config{
			RootCAs: f.roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS10,
			MaxVersion: tls.VersionTLS11,
		}).Handshake())
	if text := f.notice(); !strings.Contains(text, "TLS 1.2 or later") || !strings.Contains(text, addr) {
		t.Errorf("notice %q", text)
	}
}

// An agent that asks for a client certificate is reported, since we have none.
func TestAgentThatWantsACertificate(t *testing.T) {
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	agent.Config.ErrorLog = discardLog
	agent.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	agent.StartTLS()
	defer agent.Close()
	f := newForwardRig(t, nil)
	if answer, err := f.client("").Get(agent.URL); err == nil {
		if answer.Body.Close(); answer.StatusCode < 500 {
			t.Errorf("got %s", answer.Status)
		}
	}
	if text := f.notice(); !strings.Contains(text, "asks for a client certificate") ||
		!strings.Contains(text, "--tunnel 127.0.0.1") {
		t.Errorf("notice %q", text)
	}
}

// What is not a CONNECT is refused with the reason, and recorded.
func TestMalformedConnect(t *testing.T) {
	tests := map[string]struct {
		head   string
		status int
		text   string
	}{
		"no port":     {"CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, "without a port"},
		"a path":      {"CONNECT /x HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, "malformed"},
		"a URL":       {"CONNECT http://a:1/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, "malformed"},
		"two targets": {"CONNECT a:1 b:1 HTTP/1.1\r\n\r\n", 400, "malformed"},
		"a bad field": {"CONNECT a:1 HTTP/1.1\r\nno field\r\n\r\n", 400, "malformed"},
		"too long":    {"CONNECT a:1 HTTP/1.1\r\nX: " + strings.Repeat("y", relay.DefaultHeadLimit), 431, "too long"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newForwardRig(t, nil)
			conn := f.dial()
			write(t, conn, test.head)
			status, mark, text := ownAnswer(t, conn)
			if status != test.status || mark != relay.KindRefused || !strings.Contains(text, test.text) {
				t.Errorf("got %d %s %s", status, mark, text)
			}
			conn.Close()
			f.follow(isClosed)
			if x := f.record()[0]; x.Fault == nil || x.Fault.Side != relay.SideClient || x.Response != nil {
				t.Errorf("recorded %v", x.Fault)
			}
		})
	}
}

// A client that is slow with its CONNECT is cut off; one that is silent before it is an idle connection.
func TestSlowConnect(t *testing.T) {
	t.Parallel()
	const short = 50 * time.Millisecond
	idle := newForwardRig(t, func(o *proxy.Options) { o.IdleTimeout = short })
	if err := expectEnd(idle.dial()); err != nil {
		t.Errorf("a silent client: %v", err)
	}
	f := newForwardRig(t, func(o *proxy.Options) { o.HeadTimeout = short })
	slow := f.dial()
	write(t, slow, "CONNECT a:1 HT")
	if status, mark, _ := ownAnswer(t, slow); status != 408 || mark != relay.KindTimeout {
		t.Errorf("got %d %s", status, mark)
	}
	started := f.dial()
	write(t, started, "CON")
	if err := expectEnd(started); err != nil {
		t.Errorf("one that has just begun: %v", err)
	}
}

// Stopping ends all that a forward proxy may be busy with, in bounded time.
func TestForwardStops(t *testing.T) {
	agent := newEcho(t, "")
	f := newForwardRig(t,
		func(o *proxy.Options) { o.Forward.Tunnel = []hostname.Pattern{mustPattern(t, "127.0.0.1")} })
	tunnel := f.dial()
	f.connect(tunnel, agent, "")
	write(t, tunnel, "ping")
	receive(t, tunnel, "ping")
	sniffed := f.dial()
	f.connect(sniffed, "a.example:443", "")
	greeted := f.dial()
	f.connect(greeted, "a.example:443", "")
	write(t, greeted, "\x16\x03\x01")
	heading := f.dial()
	write(t, heading, "CONNECT a:1 HT")
	silent := f.dial()
	f.stop()
	for name, conn := range map[string]net.Conn{
		"tunnel": tunnel, "sniffed": sniffed, "greeted": greeted,
		"heading": heading, "silent": silent,
	} {
		conn.SetReadDeadline(time.Now().Add(must.Patience))
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s goes on", name)
		} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Errorf("%s was not ended", name)
		}
	}
	if x := f.record()[0]; x.Fault == nil || x.Fault.Kind != relay.KindShutdown {
		t.Errorf("recorded %v", x.Fault)
	}
}

// The client's name comes from the user part of its proxy URL, if it can be one.
func TestForwardClientNames(t *testing.T) {
	agent := newAgent(t, func(http.ResponseWriter, *http.Request) {})
	addr := agent.Listener.Addr().String()
	f := newForwardRig(t, nil)
	tests := []struct{ credentials, want string }{
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("planner:")), "planner proxy-user"},
		{"basic " + base64.StdEncoding.EncodeToString([]byte("planner:secret")), "planner proxy-user"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("pl anner:")), "tool user-agent"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("planner")), "tool user-agent"},
		{"Basic ???", "tool user-agent"},
		{"Bearer x", "tool user-agent"},
		{"", "tool user-agent"},
	}
	for _, test := range tests {
		cardRequestOf(t, f.forward.Addr(), "GET http://"+addr+"/ HTTP/1.1\r\nHost: "+addr+
			"\r\nUser-Agent: tool/1\r\nConnection: close\r\n"+
			"Proxy-Authorization: "+test.credentials+"\r\n\r\n")
	}
	for i, x := range f.record() {
		expect.Equal(t, tests[i].credentials, tests[i].want, x.Client.Name+" "+x.Client.How)
	}
}
