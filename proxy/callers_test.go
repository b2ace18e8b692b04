package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/process"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A callersRig is a proxy in front of two agents, in which a function of the test says who calls.
type callersRig struct {
	t        *testing.T
	proxy    *Proxy
	recorder *recording.Recorder
	memory   *capture.Memory
	client   *http.Client
	end      func()
}

// callerIs is a look at connections that are all of one agent.
func callerIs(agent int, relation process.Relation, connections int) finding {
	f := finding{recognizable: true, agents: [][]int{{1}, {2}}}
	for range connections {
		f.callers = append(f.callers, caller{agent: agent, relation: relation, seen: true})
	}
	return f
}

func newCallersRig(t *testing.T, handler http.HandlerFunc, patience time.Duration, opts recording.Options,
	find func(connections int) finding,
) *callersRig {
	t.Helper()
	return serveCallers(t, handler, opts, func(p *Proxy) {
		p.callers.patience = patience
		p.callers.find = func(_ context.Context, agents [][]netip.AddrPort, connections []process.Pair) (finding, error) {
			if len(agents) != 2 || len(agents[0]) == 0 || len(agents[1]) == 0 {
				t.Errorf("the agents are at %v", agents)
			}
			return find(len(connections)), nil
		}
	})
}

// serveCallers starts a proxy that set has changed.
func serveCallers(t *testing.T, handler http.HandlerFunc, opts recording.Options, set func(*Proxy)) *callersRig {
	t.Helper()
	var urls []string
	for range 2 {
		agent := httptest.NewServer(handler)
		t.Cleanup(agent.Close)
		urls = append(urls, agent.URL)
	}
	return serveCallersOf(t, urls, opts, set)
}

// serveCallersOf is serveCallers for planner and booker that run already.
func serveCallersOf(t *testing.T, urls []string, opts recording.Options, set func(*Proxy)) *callersRig {
	t.Helper()
	r := &callersRig{t: t, memory: capture.NewMemory(capture.Info{})}
	var specs []TapSpec
	for i, name := range []string{"planner", "booker"} {
		specs = append(specs, must.Get(ParseTap(name+"="+urls[i]))(t))
	}
	opts.Sink = r.memory
	r.recorder = recording.New(opts)
	var err error
	if r.proxy, err = New(Options{Taps: specs, Recorder: r.recorder}); err != nil {
		t.Fatal(err)
	}
	set(r.proxy)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		r.proxy.Serve(ctx) //nolint:errcheck // it returns nil
	}()
	transport := &http.Transport{DisableKeepAlives: true}
	r.client = &http.Client{Transport: transport, Timeout: must.Patience}
	r.end = sync.OnceFunc(func() {
		transport.CloseIdleConnections()
		cancel()
		<-served
		expect.OK(t, r.recorder.Close(context.Background()))
		r.memory.Close()
	})
	t.Cleanup(r.end)
	return r
}

// call asks the agent of that name for a path.
func (r *callersRig) call(agent, path string) error {
	res, err := r.client.Get("http://" + r.proxy.tap(agent).Addr() + path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// names ends the recording and returns who called whom, and how that is known, once each.
func (r *callersRig) names() string {
	r.t.Helper()
	r.end()
	var all []string
	for x, err := range r.memory.Exchanges(context.Background(), 1) {
		must.Do(r.t, err)
		line := fmt.Sprintf("%s (%s) -> %s", x.Client.Name, x.Client.How, x.Agent.Name)
		if _, _, err := net.SplitHostPort(x.Client.Addr); err != nil && x.Agent.Addr != "" { // a tool has none
			line += ": " + err.Error()
		}
		if len(all) == 0 || all[len(all)-1] != line {
			all = append(all, line)
		}
	}
	return strings.Join(all, ", ")
}

func quick(http.ResponseWriter, *http.Request) {}

// TestCallerInTime has a search that ends after the traffic: neither waits for the other, and the record has the name
// from the beginning.
func TestCallerInTime(t *testing.T) {
	passed := make(chan struct{})
	r := newCallersRig(t, quick, must.Patience, recording.Options{}, func(n int) finding {
		if n > 0 {
			<-passed
		}
		return callerIs(0, process.Same, n)
	})
	for range 3 {
		must.Do(t, r.call("booker", "/"))
	}
	close(passed)
	named := false
	capturetest.Until(t, r.memory, func(s capture.Step) bool {
		if o, ok := s.What.(capture.Opened); ok && s.Seq == 1 {
			named = o.Client.Name == "planner"
			return true
		}
		return false
	})
	if got := r.names(); !named || got != "planner (socket of the agent's process) -> booker" {
		t.Error(got)
	}
}

// TestCallerLate has a search that takes longer than the record waits: what is open then gets the name, and so do the
// first exchanges that are over.
func TestCallerLate(t *testing.T) {
	found, answered := make(chan struct{}), make(chan struct{})
	r := newCallersRig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/open" {
			<-answered
		}
	}, 0, recording.Options{}, func(n int) finding {
		if n > 0 {
			<-found
		}
		return callerIs(0, process.Child, n)
	})
	conn := must.Get(net.Dial("tcp", r.proxy.tap("booker").Addr()))(t)
	defer conn.Close()
	in := bufio.NewReader(conn)
	answer := func() {
		t.Helper()
		res := must.Get(http.ReadResponse(in, nil))(t)
		res.Body.Close()
	}
	request := "GET %s HTTP/1.1\r\nHost: " + conn.RemoteAddr().String() + "\r\nUser-Agent: curl/8\r\n\r\n"
	fmt.Fprintf(conn, request, "/over")
	answer()
	fmt.Fprintf(conn, request, "/open")
	capturetest.Until(t, r.memory, func(s capture.Step) bool { _, ok := s.What.(capture.Opened); return ok && s.Seq == 2 })
	close(found)
	capturetest.Until(t, r.memory, func(s capture.Step) bool { f, ok := s.What.(capture.Fact); return ok && f.Client.Name == "planner" })
	close(answered)
	answer()
	fmt.Fprintf(conn, request, "/later")
	answer()
	conn.Close()
	want := "planner (socket of a child of the agent's process) -> booker"
	expect.Equal(t, "", want, r.names())
}

// TestCallerListensLater has a program that fetches a card before it listens. Once its process is known to be the
// planner's, it has one name for everything, whether its connection lasts or only its process is known.
func TestCallerListensLater(t *testing.T) {
	for _, tt := range []struct {
		name  string
		early caller // the client at first
		late  caller // the same connection, when planner is reached
		want  string
	}{
		{"its connection lasts", caller{seen: true}, caller{relation: process.Same, seen: true}, "planner (socket of the agent's process)"},
		{"its process was seen", caller{seen: true, owners: []int{11}}, caller{}, "planner (socket of the agent's process)"},
		{"another process was seen", caller{seen: true, owners: []int{7}}, caller{}, "Go-http-client (user-agent)"},
		{"the process of the called agent", caller{seen: true, owners: []int{2}}, caller{}, "Go-http-client (user-agent)"},
		{"nothing was seen", caller{}, caller{}, "Go-http-client (user-agent)"},
	} {
		var listens atomic.Bool
		r := newCallersRig(t, quick, must.Patience, recording.Options{}, func(n int) finding {
			f := callerIs(0, process.None, n)
			if f.agents[0] = []int{11}; !listens.Load() {
				f.agents[0] = nil
			}
			for i := range f.callers {
				if f.callers[i] = tt.early; listens.Load() {
					f.callers[i] = tt.late
				}
			}
			return f
		})
		must.Do(t, r.call("booker", "/card"))
		capturetest.Until(t, r.memory, func(s capture.Step) bool { _, ok := s.What.(capture.Closed); return ok })
		listens.Store(true)
		r.proxy.callers.prepare() // the end of the recording waits for that
		expect.Equal(t, tt.name, tt.want+" -> booker", r.names())
	}
}

// TestCallerOfAnotherRecorder has a client whose process listens where no agent of a tap lives: that is recorded,
// under the name that its User-Agent gives it.
func TestCallerOfAnotherRecorder(t *testing.T) {
	r := newCallersRig(t, quick, must.Patience, recording.Options{}, func(n int) finding {
		f := callerIs(0, process.None, n)
		for i := range f.callers {
			f.callers[i].ports = []uint16{9005, 9006}
		}
		return f
	})
	must.Do(t, r.call("booker", "/"))
	expect.Equal(t, "", "Go-http-client (user-agent) -> booker", r.names())
	for x := range r.memory.Exchanges(context.Background(), 1) {
		expect.Equal(t, "the client lives at",
			capture.Home{Machine: process.Machine(), Ports: []uint16{9005, 9006}}.String(), x.Client.URL)
	}
}

// TestCallerUnderPressure has a search without an end and a queue that fills: the recording continues.
func TestCallerUnderPressure(t *testing.T) {
	end := make(chan struct{})
	r := newCallersRig(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }, must.Patience,
		recording.Options{QueueBytes: 256 << 10}, func(n int) finding {
			if n > 0 {
				<-end
			}
			return callerIs(0, process.Same, n)
		})
	res, err := r.client.Post("http://"+r.proxy.tap("booker").Addr(), "text/plain",
		strings.NewReader(strings.Repeat("x", 100<<10)))
	must.Do(t, err)
	res.Body.Close()
	capturetest.Until(t, r.memory, func(s capture.Step) bool { _, ok := s.What.(capture.Closed); return ok })
	close(end)
	expect.Equal(t, "", "planner (socket of the agent's process) -> booker", r.names())
}

// TestCallerOfItself has an agent that calls itself, or a test that has both ends.
func TestCallerOfItself(t *testing.T) {
	r := newCallersRig(t, quick, must.Patience, recording.Options{},
		func(n int) finding { return callerIs(1, process.Same, n) })
	must.Do(t, r.call("booker", "/"))
	must.Do(t, r.call("planner", "/"))
	want := "Go-http-client (user-agent) -> booker, booker (socket of the agent's process) -> planner"
	expect.Equal(t, "", want, r.names())
}

// TestCallerIsThisProcess searches the existing processes, none of which is an agent's, and has a proxy that does not
// search.
func TestCallerIsThisProcess(t *testing.T) {
	for _, none := range []bool{false, true} {
		looks := 0
		r := serveCallers(t, quick, recording.Options{}, func(p *Proxy) {
			find := p.callers.find
			p.opts.NoCallers = none
			p.callers.patience = must.Patience
			p.callers.find = func(ctx context.Context, at [][]netip.AddrPort, connections []process.Pair) (finding, error) {
				looks++
				return find(ctx, at, connections)
			}
		})
		for range 3 {
			must.Do(t, r.call("booker", "/"))
		}
		expect.Equal(t, "", "Go-http-client (user-agent) -> booker", r.names())
		if looked := looks > 0; looked == none {
			t.Errorf("looked %d times, where none is to: %t", looks, none)
		}
	}
}

// TestAddressesOfAgents says where agents may listen before anybody has reached one.
func TestAddressesOfAgents(t *testing.T) {
	for agent, want := range map[string]string{
		"http://127.0.0.1:9001": "[127.0.0.1:9001]", "http://localhost:9001": "[127.0.0.1:9001 [::1]:9001]",
		"http://agent.example": "[]", "http://[::1]": "[[::1]:80]",
	} {
		spec := must.Get(ParseTap(agent))(t)
		tap := &Tap{spec: spec, agent: hostname.OriginOf(spec.Agent)}
		if got := fmt.Sprint(tap.addresses()); got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
}

// TestCallersAreManyAtOnce has a connection when the time for looks is used up: it waits for its look, and not for longer
// than the proxy serves.
func TestCallersAreManyAtOnce(t *testing.T) {
	for seen, want := range map[string]string{
		"booker":         "Go-http-client (user-agent) -> booker",
		"planner":        "Go-http-client (user-agent) -> booker",
		"planner booker": "Go-http-client (user-agent) -> booker",
	} {
		r := serveCallers(t, quick, recording.Options{}, func(p *Proxy) {
			p.callers.patience = 0
			p.callers.pace.paid = time.Now().Add(time.Hour)
			p.callers.seen = strings.Fields(seen)
		})
		must.Do(t, r.call("booker", "/"))
		expect.Equal(t, "with the process of "+seen+" known", want, r.names())
	}
}

// TestCallerUnseen has a look that comes too late for a client. It is named after its User-Agent, which no agent has sent.
func TestCallerUnseen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		agents [][]int // planner and booker: their processes were seen
		seen   bool    // who calls booker
		want   string
	}{
		{"it may be planner", [][]int{{2}, {3}}, false, "Go-http-client (user-agent)"},
		{"it is not planner", [][]int{{2}, {3}}, true, "Go-http-client (user-agent)"},
		{"planner is not on this machine", [][]int{{}, {3}}, false, "Go-http-client (user-agent)"},
		{"no agent is", [][]int{{}, {}}, false, "Go-http-client (user-agent)"},
		{"booker is not on this machine", [][]int{{2}, {}}, false, "Go-http-client (user-agent)"},
	} {
		r := newCallersRig(t, quick, must.Patience, recording.Options{}, func(n int) finding {
			f := callerIs(0, process.None, n)
			f.agents = tt.agents
			for i := range f.callers {
				f.callers[i].seen = tt.seen
			}
			return f
		})
		must.Do(t, r.call("booker", "/"))
		expect.Equal(t, tt.name, tt.want+" -> booker", r.names())
	}
}

// TestCallerInDoubt has exchanges that are recorded before the look at their client ends. Open exchanges then get
// the name that the look shows, if it is an agent's.
func TestCallerInDoubt(t *testing.T) {
	for _, tt := range []struct {
		name     string
		relation process.Relation
		want     string
	}{
		{"an agent", process.Same, "planner (socket of the agent's process)"},
		{"no agent", process.None, "Go-http-client (user-agent)"},
	} {
		found, answered := make(chan struct{}), make(chan struct{})
		r := newCallersRig(t, func(http.ResponseWriter, *http.Request) { <-answered }, 0, recording.Options{}, func(n int) finding {
			if n > 0 {
				<-found
			}
			return callerIs(0, tt.relation, n)
		})
		r.proxy.callers.mu.Lock()
		r.proxy.callers.seen = []string{"planner"}
		r.proxy.callers.mu.Unlock()
		called := make(chan error, 1)
		go func() { called <- r.call("booker", "/") }()
		first := ""
		capturetest.Until(t, r.memory, func(s capture.Step) bool {
			o, ok := s.What.(capture.Opened)
			first = o.Client.Name + " (" + o.Client.How + ")"
			return ok
		})
		close(found)
		if tt.relation != process.None {
			capturetest.Until(t, r.memory, func(s capture.Step) bool { f, ok := s.What.(capture.Fact); return ok && f.Client.Name != "" })
		}
		close(answered)
		must.Do(t, <-called)
		expect.Equal(t, tt.name+", at first", "Go-http-client (user-agent)", first)
		expect.Equal(t, tt.name, tt.want+" -> booker", r.names())
	}
}

// TestClientNamedByUser has a name of --client for a client that is an agent: the user's comes first.
func TestClientNamedByUser(t *testing.T) {
	var patterns []recording.ClientPattern
	for _, flag := range []string{"header:X-None=*=nobody", "go-http-client=mine", "*=other"} {
		p := must.Get(recording.ParseClient(flag))(t)
		patterns = append(patterns, p)
	}
	r := newCallersRig(t, quick, must.Patience, recording.Options{Clients: patterns},
		func(n int) finding { return callerIs(0, process.Same, n) })
	must.Do(t, r.call("booker", "/"))
	expect.Equal(t, "", "mine (--client user-agent) -> booker", r.names())
}

func TestPace(t *testing.T) {
	const took = time.Millisecond
	var p pace
	looks, now := 0, time.Unix(1, 0)
	for begun := now; now.Sub(begun) < 5*time.Second; { // callers search all the time
		if wait := p.wait(now); wait > 0 {
			now = now.Add(wait)
			continue
		}
		p.took(now, now.Add(took))
		looks, now = looks+1, now.Add(took)
	}
	expect.Equal(t, "looks in 5 s, and at the beginning", int((callerSaved+5*time.Second)/(callerShare*took)), looks)
	now = now.Add(time.Minute)
	p.took(now, now.Add(time.Second))
	expect.Equal(t, "after a look of 1 s the next waits",
		callerShare*time.Second-callerSaved, p.wait(now))
}

// BenchmarkNewConnection is what a new connection costs before the first byte is relayed, with the search for its
// client and without.
func BenchmarkNewConnection(b *testing.B) {
	for _, with := range []bool{false, true} {
		b.Run(map[bool]string{false: "without", true: "with"}[with]+" search", func(b *testing.B) {
			p := &Proxy{ctx: context.Background()}
			p.opts.Recorder = recording.New(recording.Options{Sink: capture.NewMemory(capture.Info{})})
			defer p.opts.Recorder.Close(context.Background()) //nolint:errcheck // nothing is recorded
			p.callers = newCallers(p)
			p.callers.find = func(_ context.Context, _ [][]netip.AddrPort, pairs []process.Pair) (finding, error) {
				return callerIs(0, process.None, len(pairs)), nil
			}
			spec := must.Get(ParseTap("booker=http://127.0.0.1:9001"))(b)
			p.taps = append(p.taps, &Tap{proxy: p, spec: spec, agent: hostname.OriginOf(spec.Agent), family: "booker"})
			client := endpoint{from: net.IPv4(10, 0, 0, 1)} // who is on another machine is not looked for
			if with {
				client.from = net.IPv4(127, 0, 0, 1)
			}
			for b.Loop() {
				newLink(p.taps[0], client)
			}
			p.served.Wait()
		})
	}
}

// An endpoint is a connection that has two ends and nothing else.
type endpoint struct {
	net.Conn
	from net.IP
}

func (endpoint) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7001} }

func (e endpoint) RemoteAddr() net.Addr { return &net.TCPAddr{IP: e.from, Port: 49153} }
