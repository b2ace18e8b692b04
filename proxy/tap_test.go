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
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/unreachable"
)

func TestTapMapsOriginToOrigin(t *testing.T) {
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.RequestURI, body)
	})
	host := strings.TrimPrefix(agent.URL, "http://")
	r := newRig(t, nil, "booker="+agent.URL+"/a2a/v1?key=x")
	expect.Equal(t, "URL", "http://"+r.tap(0).Addr()+"/a2a/v1?key=x", r.tap(0).URL())
	_, got := fetch(t, newClient(t), "POST", "http://"+r.tap(0).Addr()+"/a2a/v1;p?a;b", strings.NewReader("hello"))
	expect.Equal(t, "the agent saw", "POST "+host+" /a2a/v1;p?a;b hello", got)
	x := r.record()[0]
	if !strings.Contains(string(x.Request.Head), "Host: "+r.tap(0).Addr()+"\r\n") {
		t.Errorf("the record does not keep the Host that the client used:\n%s", x.Request.Head)
	}
	expect.Same(t, "agent", capture.Peer{Name: "booker", Addr: host, URL: agent.URL + "/a2a/v1?key=x"}, x.Agent)
	if string(x.Request.Body.Data) != "hello" || string(x.Response.Body.Data) != got {
		t.Errorf("recorded %q and %q", x.Request.Body.Data, x.Response.Body.Data)
	}
	if x.State != capture.StateClosed || x.Fault != nil || x.Conn != 1 || x.Seq != 1 {
		t.Errorf("state %v, fault %v, conn %d, seq %d", x.State, x.Fault, x.Conn, x.Seq)
	}
}

func TestTapToTLSAgent(t *testing.T) {
	var resumed, alpn atomic.Value
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resumed.Store(r.TLS.DidResume)
		alpn.Store(r.TLS.NegotiatedProtocol)
		io.WriteString(w, "secure")
	}))
	agent.StartTLS()
	t.Cleanup(agent.Close)
	roots := x509.NewCertPool()
	roots.AddCert(agent.Certificate())
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.RootCAs = roots }, agent.URL)
	for range 2 {
		client := newClient(t)
		if _, text := get(t, client, r.tap(0).URL()); text != "secure" {
			t.Fatalf("got %q", text)
		}
		client.CloseIdleConnections()
	}
	if alpn.Load() != "http/1.1" || resumed.Load() != true {
		t.Errorf("ALPN %v, resumed %v", alpn.Load(), resumed.Load())
	}
}

// The card of an agent behind TLS leads to the tap, which speaks plain HTTP.
func TestCardOfTLSAgent(t *testing.T) {
	agent := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"url":"https://%s/a2a"}`, r.Host)
	}))
	t.Cleanup(agent.Close)
	roots := x509.NewCertPool()
	roots.AddCert(agent.Certificate())
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.RootCAs = roots }, agent.URL)
	want := `{"url":"http://` + r.tap(0).Addr() + `/a2a"}`
	if _, got := get(t, newClient(t), r.tap(0).URL()+"/.well-known/agent-card.json"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSlowHeadIsCut(t *testing.T) {
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.HeadTimeout = 20 * time.Millisecond },
		"http://127.0.0.1:1")
	if got := cardRequestOf(t, r.tap(0).Addr(), "GET / HT"); !strings.HasPrefix(got, "HTTP/1.1 408") {
		t.Errorf("got %q", got)
	}
	if x := r.record()[0]; string(x.Request.Head) != "GET / HT" || x.Fault == nil || x.Fault.Kind != "timeout" {
		t.Errorf("got %q, %+v", x.Request.Head, x.Fault)
	}
}

func TestAgentDownIsRecordedAndTapLives(t *testing.T) {
	address := unreachable.Address(t)
	r := newRig(t, nil, "booker=http://"+address)
	answer, _ := get(t, newClient(t), r.tap(0).URL())
	if answer.StatusCode != 502 || answer.Header.Get("X-A2atap") == "" {
		t.Fatalf("got %s, %v", answer.Status, answer.Header)
	}
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "here")
	}))
	agent.Listener.Close()
	agent.Listener = must.Get(net.Listen("tcp", address))(t)
	agent.Start()
	t.Cleanup(agent.Close)
	if _, text := get(t, newClient(t), r.tap(0).URL()); text != "here" {
		t.Errorf("got %q", text)
	}
	record := r.record()
	if len(record) != 2 || record[0].Fault == nil || record[0].Fault.Kind != "unreachable" ||
		record[0].Response != nil {
		t.Errorf("recorded %+v", record[0])
	}
	if record[1].Fault != nil {
		t.Errorf("got fault %+v", record[1].Fault)
	}
}

func TestListenErrors(t *testing.T) {
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	_, own, _ := net.SplitHostPort(unreachable.Address(t))
	tests := []struct {
		name   string
		agents []string
		alias  string
		want   []string
	}{
		{
			"port in use",
			[]string{"booker=http://localhost:1@" + port},
			"",
			[]string{"tap booker", "port " + port, "in use", "choose another port"},
		},
		{
			"remote",
			[]string{"booker=http://localhost:1@0.0.0.0:0"},
			"",
			[]string{"tap booker", "other machines", "--allow-remote"},
		},
		{
			"no address",
			[]string{"booker=http://localhost:1@no.such.host.invalid:0"},
			"",
			[]string{"tap booker", "not an address to listen on"},
		},
		{"itself", []string{"booker=http://localhost:" + own + "@" + own}, "", []string{"tap booker", "loop"}},
		{
			"each other",
			[]string{"a=http://localhost:1@" + own, "b=http://127.0.0.1:" + own},
			"",
			[]string{"tap b", "tap of a", "loop"},
		},
		{
			"same name",
			[]string{"a=http://localhost:1", "a=http://localhost:2"},
			"",
			[]string{"two agents of that name"},
		},
		{
			"alias",
			[]string{"a=http://localhost:1", "b=http://localhost:2"},
			"c=http://c.example",
			[]string{`unknown agent "c"; use a, b`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			recorder := recording.New(recording.Options{Sink: new(capture.Memory)})
			defer recorder.Close(context.Background())
			opts := proxy.Options{Recorder: recorder}
			for _, agent := range test.agents {
				spec := must.Get(proxy.ParseTap(agent))(t)
				opts.Taps = append(opts.Taps, spec)
			}
			if test.alias != "" {
				alias := must.Get(proxy.ParseAlias(test.alias))(t)
				opts.Aliases = append(opts.Aliases, alias)
			}
			p, err := proxy.New(opts)
			if err == nil {
				p.Close()
				t.Fatal("it opened")
			}
			for _, want := range test.want {
				expect.Contains(t, "", want, err.Error())
			}
		})
	}
	expect.Error(t, "a proxy without recorder was made", expect.Err(proxy.New(proxy.Options{})))
}

func TestNotHTTPIsRecorded(t *testing.T) {
	agent := newAgent(t, func(http.ResponseWriter, *http.Request) { t.Error("the agent was asked") })
	r := newRig(t, nil, agent.URL)
	conn := must.Get(net.Dial("tcp", r.tap(0).Addr()))(t)
	defer conn.Close()
	hello := "\x16\x03\x01\x00\x05hello"
	io.WriteString(conn, hello)
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
		t.Errorf("got %q, %v", answer, err)
	}
	x := r.record()[0]
	if string(x.Request.Head) != hello || x.Fault == nil || x.Fault.Kind != "not-http" || x.Fault.Side != "client" {
		t.Errorf("got head %q, fault %+v", x.Request.Head, x.Fault)
	}
}

func TestClientNames(t *testing.T) {
	agent := newAgent(t, func(http.ResponseWriter, *http.Request) {})
	tests := []struct{ userAgent, name, how string }{
		{"planner/1.0 (linux)", "planner", "user-agent"},
		{"python-httpx/0.27.0", "python-httpx", "user-agent"},
		{"a2a-go", "a2a-go", "user-agent"},
		{"", "client", "default"},
		{"12345", "client", "default"},
		{"(odd)", "client", "default"},
		{"Größe/1", "Gr", "user-agent"},
	}
	r := newRig(t, nil, agent.URL)
	client := newClient(t)
	for _, test := range tests {
		get(t, client, r.tap(0).URL(), "User-Agent", test.userAgent)
	}
	for i, x := range r.record() {
		if test := tests[i]; x.Client.Name != test.name || x.Client.How != test.how || x.Client.Addr == "" {
			t.Errorf("%q: got %+v, want %s by %s", test.userAgent, x.Client, test.name, test.how)
		}
	}
}
