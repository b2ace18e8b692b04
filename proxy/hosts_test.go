package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
	"a2atap/proxy/listener"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// allowHosts is for newRig.
func allowHosts(t *testing.T, flags ...string) func(*proxy.Options, *recording.Options) {
	t.Helper()
	var allowed []hostname.Pattern
	for _, flag := range flags {
		pattern := must.Get(hostname.ParseAllowed(flag))(t)
		allowed = append(allowed, pattern)
	}
	return func(o *proxy.Options, _ *recording.Options) { o.AllowHosts = allowed }
}

// A namedRequest is a request that names hosts in one way or another, and whether a listener on 127.0.0.1 lets it in
// that was told of tap.example, *.wide.example and tap.port:7001. TAP is its address, PORT its port.
type namedRequest struct {
	head string
	in   bool
}

var namedRequests = map[string]namedRequest{
	"the address":                 {"GET / HTTP/1.1\r\nHost: TAP\r\n\r\n", true},
	"no port":                     {"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", true},
	"a mapped port":               {"GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n", true},
	"another loopback address":    {"GET / HTTP/1.1\r\nHost: 127.9.9.9:PORT\r\n\r\n", true},
	"IPv6":                        {"GET / HTTP/1.1\r\nHost: [::1]:PORT\r\n\r\n", true},
	"IPv6 written out":            {"GET / HTTP/1.1\r\nHost: [0:0:0:0:0:0:0:1]:PORT\r\n\r\n", true},
	"IPv4 in IPv6":                {"GET / HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:PORT\r\n\r\n", true},
	"localhost":                   {"GET / HTTP/1.1\r\nHost: LocalHost.:PORT\r\n\r\n", true},
	"below localhost":             {"GET / HTTP/1.1\r\nHost: a.localhost\r\n\r\n", true},
	"a name that it was told":     {"GET / HTTP/1.1\r\nhost: Tap.Example.:1\r\n\r\n", true},
	"a domain that it was told":   {"GET / HTTP/1.1\r\nHost: x.wide.example\r\n\r\n", true},
	"a port that it was told":     {"GET / HTTP/1.1\r\nHost: tap.port:7001\r\n\r\n", true},
	"absolute":                    {"GET http://TAP/ HTTP/1.1\r\nHost: TAP\r\n\r\n", true},
	"HTTP/1.0":                    {"GET / HTTP/1.0\r\n\r\n", true},
	"HTTP/1.0, absolute":          {"GET http://localhost/ HTTP/1.0\r\n\r\n", true},
	"another port":                {"GET / HTTP/1.1\r\nHost: tap.port:7002\r\n\r\n", false},
	"the domain itself":           {"GET / HTTP/1.1\r\nHost: wide.example\r\n\r\n", false},
	"a foreign name":              {"GET / HTTP/1.1\r\nHost: evil.example:PORT\r\n\r\n", false},
	"a foreign name, HTTP/1.0":    {"GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n", false},
	"a foreign address":           {"GET / HTTP/1.1\r\nHost: 192.0.2.1:PORT\r\n\r\n", false},
	"all addresses":               {"GET / HTTP/1.1\r\nHost: 0.0.0.0:PORT\r\n\r\n", false},
	"begins like a good one":      {"GET / HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", false},
	"begins like an address":      {"GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", false},
	"ends like a good one":        {"GET / HTTP/1.1\r\nHost: eviltap.example\r\n\r\n", false},
	"ends like a loopback name":   {"GET / HTTP/1.1\r\nHost: evillocalhost\r\n\r\n", false},
	"empty":                       {"GET / HTTP/1.1\r\nHost:\r\n\r\n", false},
	"no host at all":              {"GET / HTTP/1.1\r\nHost: :PORT\r\n\r\n", false},
	"absolute and foreign":        {"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", false},
	"absolute before Host":        {"GET http://evil.example/ HTTP/1.1\r\nHost: TAP\r\n\r\n", false},
	"user before host":            {"GET http://TAP@evil.example/ HTTP/1.1\r\nHost: TAP\r\n\r\n", false},
	"a scheme of its own":         {"GET ws://evil.example/ HTTP/1.1\r\nHost: TAP\r\n\r\n", false},
	"absolute, foreign, HTTP/1.0": {"GET http://evil.example HTTP/1.0\r\n\r\n", false},
	"a body":                      {"POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}", false},
}

var toldHosts = []string{"tap.example", "*.wide.example", "tap.port:7001"}

// request returns the bytes of a request for a listener.
func (n namedRequest) request(listener string) string {
	_, port, _ := net.SplitHostPort(listener)
	return strings.NewReplacer("TAP", listener, "PORT", port).Replace(n.head)
}

// ask sends a request on a connection of its own and returns the status, the mark and the text of the answer.
func ask(t *testing.T, addr, request string) (status int, mark, text string) {
	t.Helper()
	conn := must.Get(net.Dial("tcp", addr))(t)
	defer conn.Close()
	write(t, conn, request)
	return ownAnswer(t, conn)
}

// A page that has its own name lead to a tap does not get to the agent, and what the agent would check itself is not
// made good on the way.
func TestHostsOfTaps(t *testing.T) {
	t.Parallel()
	for name, test := range namedRequests {
		t.Run(name, func(t *testing.T) {
			agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) })
			r := newRig(t, allowHosts(t, toldHosts...), "booker="+agent.URL)
			request := test.request(r.tap(0).Addr())
			status, mark, text := ask(t, r.tap(0).Addr(), request)
			x := r.record()[0]
			head, _, _ := strings.Cut(request, "\r\n\r\n")
			if string(x.Request.Head) != head+"\r\n\r\n" {
				t.Errorf("recorded %q", x.Request.Head)
			}
			if test.in {
				if status != 200 || mark != "" || x.Fault != nil {
					t.Errorf("got %d %s %s, recorded %+v", status, mark, text, x.Fault)
				}
				return
			}
			want := capture.TransportFault{Kind: relay.KindRefused, Side: relay.SideClient}
			if status != 421 || mark != relay.KindRefused || x.Fault == nil || x.Fault.Kind != want.Kind ||
				x.Fault.Side != want.Side || x.Response != nil {
				t.Errorf("got %d %s %s, recorded %+v", status, mark, text, x.Fault)
			}
		})
	}
}

// The answer and the notice say which flag would let the client in.
func TestHostRefusalSaysWhatToDo(t *testing.T) {
	agent := newAgent(t, func(http.ResponseWriter, *http.Request) { t.Error("the agent was asked") })
	r := newRig(t, nil, "booker="+agent.URL)
	for range 2 {
		_, _, text := ask(t, r.tap(0).Addr(), "GET / HTTP/1.1\r\nHost: Tap.Docker.Internal:8080\r\n\r\n")
		if !strings.Contains(text, "tap.docker.internal:8080") ||
			!strings.Contains(text, "--allow-host tap.docker.internal\"") {
			t.Errorf("got %s", text)
		}
	}
	if text := r.notice(); !strings.HasPrefix(text, "tap booker refused a request: ") ||
		!strings.HasSuffix(text, "--allow-host tap.docker.internal") {
		t.Errorf("noticed %q", text)
	}
	r.record()
	expect.Equal(t, r.notices, 1, len(r.notices))
}

// With a target in absolute form, Host is ignored. A client that uses a tap as its proxy learns what it needs instead.
// A client that asks the forward proxy for another scheme is not told to allow a host.
func TestAbsoluteTargetsSayWhatToDo(t *testing.T) {
	agent := newAgent(t, func(http.ResponseWriter, *http.Request) { t.Error("the agent was asked") })
	r := newRig(t, nil, "booker="+agent.URL)
	_, _, text := ask(t, r.tap(0).Addr(), "GET ws://evil.example/ HTTP/1.1\r\nHost: "+r.tap(0).Addr()+"\r\n\r\n")
	expect.Contains(t, "the tap", "needs a forward proxy", text)
	f := newForwardRig(t, nil)
	for _, target := range []string{"ws://any.example/", "WSS://any.example", "ftp://127.0.0.1/", "x://"} {
		status, mark, text := ask(t, f.forward.Addr(), "GET "+target+" HTTP/1.1\r\nHost: any.example\r\n\r\n")
		if status != 400 || mark != relay.KindRefused || !strings.Contains(text, "neither http nor https") ||
			strings.Contains(text, "--allow-host") {
			t.Errorf("%s: the forward proxy says %d %s %s", target, status, mark, text)
		}
	}
	f.record()
}

// Clients that a file of hosts leads to a tap name the agent itself, or what --alias says it is.
func TestHostOfTheAgent(t *testing.T) {
	alias := must.Get(proxy.ParseAlias("booker=https://booker.public"))(t)
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) {
		o.Aliases = []proxy.Alias{alias}
	}, "booker=http://booker.invalid:1", "other=http://other.invalid:1")
	for host, want := range map[string]int{"booker.invalid": 502, "BOOKER.public:9": 502, "other.invalid": 421} {
		if status, _, text := ask(t, r.tap(0).Addr(), "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); status != want {
			t.Errorf("%s: got %d %s", host, status, text)
		}
	}
}

// A tap on all addresses takes the one that the client has reached, and no other.
func TestHostsOnAllAddresses(t *testing.T) {
	agent := newAgent(t, func(http.ResponseWriter, *http.Request) {})
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.AllowRemote = true },
		"booker="+agent.URL+"@0.0.0.0:0")
	_, port, _ := net.SplitHostPort(r.tap(0).Addr())
	for host, want := range map[string]int{
		"127.0.0.1": 200, "0.0.0.0": 200, "localhost": 200, "192.0.2.1": 421, "evil.example": 421,
	} {
		status, _, text := ask(t, "127.0.0.1:"+port, fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s:%s\r\n\r\n", host, port))
		if status != want {
			t.Errorf("%s: got %d %s", host, status, text)
		}
	}
}

// The forward proxy's own answers are for its own hosts alone; traffic through it may name any host.
func TestHostsOfForward(t *testing.T) {
	t.Parallel()
	for name, test := range namedRequests {
		if strings.Contains(test.head, "://") {
			continue // an agent's
		}
		t.Run(name, func(t *testing.T) {
			f := newForwardRig(t, func(o *proxy.Options) { allowHosts(t, toldHosts...)(o, nil) })
			status, mark, text := ask(t, f.forward.Addr(), test.request(f.forward.Addr()))
			want := 421
			if test.in {
				want = 400 // it has no pages
			}
			x := f.record()[0]
			if status != want || mark != relay.KindRefused || x.Fault == nil || x.Fault.Kind != relay.KindRefused {
				t.Errorf("got %d %s %s, recorded %+v", status, mark, text, x.Fault)
			}
		})
	}
	bothWays(t, func(t *testing.T, w way) {
		agent := w.agent(t, func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, r.Host) })
		f := newForwardRig(t, nil)
		conn, origin := w.dial(f, agent.Listener.Addr().String())
		write(t, conn, "GET "+origin+"/ HTTP/1.1\r\nHost: any.example\r\n\r\n")
		if status, _, text := ownAnswer(t, conn); status != 200 {
			t.Errorf("got %d %s", status, text)
		}
		f.record()
	})
}

// a2atap's servers that are not taps, such as playback and the reference agents, accept the same hosts.
func TestCheckHosts(t *testing.T) {
	var allowed proxy.Options
	allowHosts(t, toldHosts...)(&allowed, nil)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var notices []string
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page") })
	server := http.Server{Handler: listener.CheckHosts(pages, "127.0.0.1:0", l.Addr(), allowed.AllowHosts, func(s string) {
		notices = append(notices, s)
	})}
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	for name, test := range namedRequests {
		status, mark, text := ask(t, l.Addr().String(), test.request(l.Addr().String()))
		want := "200"
		if !test.in {
			want = "421 refused"
		}
		if got := strings.TrimSpace(fmt.Sprint(status, " ", mark)); got != want {
			t.Errorf("%s: got %s %s", name, got, text)
		}
	}
	server.Close()
	<-done
	if len(notices) != 1 || !strings.Contains(notices[0], "RFC 9110 section 15.5.20") {
		t.Errorf("noticed %q", notices)
	}
}
