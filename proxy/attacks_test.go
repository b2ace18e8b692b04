package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
	"a2atap/proxy/unreachable"
)

// What proxies are known to break, by the numbers of docs/security.md, on every road. What is not a matter of the road
// is tested elsewhere; that page says where.
func TestAttacks(t *testing.T) {
	t.Parallel()
	attacks := []struct {
		name  string
		test  func(t *testing.T, r road)
		http2 bool // it is one over HTTP/2, too; of the others package h2 has what there is over frames
	}{
		{"01 silent stream", silentStream, true},
		{"02 events at once", eventsAtOnce, true},
		{"03 broken answers", brokenAnswers, false},
		{"04 client leaves", clientLeaves, true},
		{"05 no agent", noAgent, false},
		{"06 framing", framingStays, false},
		{"07 codings", codingsStay, false},
		{"08 hop by hop", hopByHop, false},
		{"09 hosts that differ", hostsThatDiffer, true},
		{"11 parallel clients", parallelClients, true},
		{"12 opened and left", openedAndLeft, true},
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) { everyRoad(t, a.http2, a.test) })
	}
}

// The head of a stream is there while the agent says nothing more.
func silentStream(t *testing.T, r road) {
	release := make(chan struct{})
	p := r.serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-release
	})
	client, url := p.client()
	answer, err := client.Get(url) // returns with the head
	close(release)
	must.Do(t, err)
	defer answer.Body.Close()
	if err := expectEnd(answer.Body); err != nil || answer.StatusCode != 200 {
		t.Errorf("got %s, %v", answer.Status, err)
	}
}

// Each event is there before the agent sends another, in order, and its time is recorded.
func eventsAtOnce(t *testing.T, r road) {
	const events = 1000
	next := make(chan struct{})
	p := r.serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := range events {
			fmt.Fprintf(w, "data: %d\n\n", n)
			w.(http.Flusher).Flush()
			<-next
		}
	})
	client, url := p.client()
	answer := must.Get(client.Get(url))(t)
	defer answer.Body.Close()
	in := bufio.NewReader(answer.Body)
	for n := range events {
		receive(t, in, fmt.Sprintf("data: %d\n\n", n))
		next <- struct{}{}
	}
	expect.OK(t, expectEnd(in))
	x := p.record()[0]
	var last time.Duration
	for n, e := range x.Response.Events {
		if string(e.Raw) != fmt.Sprintf("data: %d\n\n", n) || e.At < last {
			t.Fatalf("recorded event %d as %q at %v, after %v", n, e.Raw, e.At, last)
		}
		last = e.At
	}
	expect.Equal(t, "recorded", events, len(x.Response.Events))
	if r.forward && (x.Agent.Name != p.agent || x.Agent.URL != (way{r.secure}).scheme()+"://"+p.agent) {
		t.Errorf("agent %s at %s, want %s", x.Agent.Name, x.Agent.URL, p.agent)
	}
}

// What an agent breaks, the client sees broken, and the record says how.
func brokenAnswers(t *testing.T, r road) {
	const (
		chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		length  = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
	)
	tests := map[string]struct {
		answer string
		reset  bool
		kind   string
	}{
		"reset": {length + "half", true, relay.KindReset}, "too short": {length + "half", false, relay.KindTruncated},
		"half a chunk": {chunked + "9\r\nhalf", false, relay.KindTruncated},
		"no last one":  {chunked + "4\r\nhalf\r\n", false, relay.KindTruncated},
		"bad chunk":    {chunked + "4\r\nhalf\r\nx\r\n", false, relay.KindRefused},
		"half a head":  {"HTTP/1.1 200 OK\r\nA: ", false, relay.KindTruncated},
		"nothing":      {"", false, relay.KindTruncated},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, l := r.listen(t, nil)
			conn, origin, host := p.dial()
			write(t, conn, "GET "+origin+"/ HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
			agent := accept(t, l)
			must.Get(http.ReadRequest(bufio.NewReader(agent)))(t)
			io.WriteString(agent, test.answer)
			if over, ok := agent.(interface{ NetConn() net.Conn }); ok && test.reset {
				agent = over.NetConn()
			}
			if test.reset {
				agent.(*net.TCPConn).SetLinger(0)
			}
			agent.Close()
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil {
				err = expectEnd(answer.Body)
			}
			expect.Error(t, "the client sees no break", err)
			if x := p.record()[0]; x.Fault == nil || x.Fault.Kind != test.kind || x.Fault.Side != relay.SideAgent {
				t.Errorf("recorded %+v, want %s", x.Fault, test.kind)
			}
		})
	}
}

// An agent learns of a client that leaves a silent stream, and the record says who left.
func clientLeaves(t *testing.T, r road) {
	left := make(chan struct{})
	p := r.serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
		panic(http.ErrAbortHandler) // else the server would end its answer in order
	})
	client, url := p.client()
	answer := must.Get(client.Get(url))(t)
	answer.Body.Close()
	select {
	case <-left:
	case <-time.After(must.Patience):
		t.Fatal("the agent did not learn of it")
	}
	p.follow(isClosed)
	if f := p.record()[0].Fault; f == nil || f.Kind != relay.KindClientLeft {
		t.Errorf("recorded %+v", f)
	}
}

// Whatever keeps us from the agent, the client gets our mark and the record a fault.
func noAgent(t *testing.T, r road) {
	silent := (way{}).listen(t).Addr().String() // whose connections are never accepted
	plain := newAgent(t, func(http.ResponseWriter, *http.Request) {}).Listener.Addr().String()
	tests := map[string]struct {
		agent  string
		set    func(*proxy.Options)
		status int
		mark   string
		secure bool // TLS is needed for it
	}{
		"down":      {unreachable.Address(t), nil, 502, relay.KindUnreachable, false},
		"no name":   {"nowhere.invalid:80", nil, 502, relay.KindUnreachable, false},
		"no TLS":    {plain, nil, 502, relay.KindTLS, true},
		"untrusted": {(way{r.secure}).agent(t, nil).Listener.Addr().String(), noRoots, 502, relay.KindTLS, true},
		"silent": {silent, func(o *proxy.Options) {
			o.DialTimeout, o.AnswerTimeout = 50*time.Millisecond, 50*time.Millisecond
		}, 504, relay.KindTimeout, false},
	}
	for name, test := range tests {
		if test.secure && !r.secure {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := r.to(t, test.agent, test.set)
			if name == "no name" && r.forward && r.secure { // whose certificate is for the name
				client, url := p.client()
				answer, _ := get(t, client, url)
				if answer.StatusCode != test.status || answer.Header.Get("X-A2atap") != test.mark {
					t.Errorf("got %s %s", answer.Status, answer.Header.Get("X-A2atap"))
				}
				return
			}
			conn, origin, host := p.dial()
			write(t, conn, "GET "+origin+"/ HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
			if status, mark, text := ownAnswer(t, conn); status != test.status || mark != test.mark {
				t.Errorf("got %d %s %s", status, mark, text)
			}
			if x := p.record()[0]; x.Fault == nil || x.Fault.Kind != test.mark || x.Fault.Side != relay.SideAgent ||
				x.Response != nil {
				t.Errorf("recorded %+v, answer %+v", x.Fault, x.Response)
			}
		})
	}
}

// A foreign Host does not get through a tap. In forward mode the request goes where target or CONNECT say, and what
// differs is noted.
func hostsThatDiffer(t *testing.T, r road) {
	p := r.serve(t, nil, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) })
	var status int
	var mark, text string
	if r.http2 {
		client, url := p.client()
		request := must.Get(http.NewRequest("GET", url, nil))(t)
		request.Host = "b.example"
		answer := must.Get(client.Do(request))(t)
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		status, mark, text = answer.StatusCode, answer.Header.Get("X-A2atap"), string(body)
	} else {
		conn, origin, _ := p.dial()
		write(t, conn, "GET "+origin+"/ HTTP/1.1\r\nHost: b.example\r\n\r\n")
		status, mark, text = ownAnswer(t, conn)
	}
	x := p.record()[0]
	noted := len(x.Notes) == 1 && strings.HasPrefix(x.Notes[0], "Host is b.example")
	switch {
	case !r.forward && (status != 421 || mark != relay.KindRefused || x.Fault == nil),
		r.forward && (status != 200 || mark != "" || !noted),
		r.forward && !r.secure && !r.http2 && (text != p.agent || now(x)["request.header[Host]"] != p.agent ||
			!strings.Contains(x.Notes[0], ", and the request target "+p.agent)):
		t.Errorf("got %d %s %s, notes %q", status, mark, text, x.Notes)
	}
}

// Many clients at once get each its own answers, and the record tells them apart. They need as many connections to the
// agent, and none is left.
func parallelClients(t *testing.T, r road) {
	const clients, calls = 50, 4
	var mu sync.Mutex
	open, made := 0, 0
	gone := make(chan struct{}, 10*clients)
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing the client sees
		w.Write(body)
	}))
	agent.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch s {
		case http.StateNew:
			open++
			made++
		case http.StateClosed:
			open--
			gone <- struct{}{}
		}
	}
	start := agent.Start
	if r.secure {
		agent.EnableHTTP2 = r.http2
		start = agent.StartTLS
	} else if r.http2 {
		agent.Config.Protocols = new(http.Protocols)
		agent.Config.Protocols.SetUnencryptedHTTP2(true)
	}
	start()
	defer agent.Close()
	p := r.to(t, agent.Listener.Addr().String(), nil)
	call := func(client *http.Client, url, body string) {
		answer, err := client.Post(url, "text/plain", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		if got, _ := io.ReadAll(answer.Body); string(got) != body {
			t.Errorf("got %q", got)
		}
	}
	var wg sync.WaitGroup
	for n := range clients {
		client, url := p.clientOf(fmt.Sprint("client", n))
		body := strings.Repeat(fmt.Sprintf("client%d ", n), 300)
		call(client, url, body) // connections are begun one by one, since a busy machine is slow with many handshakes
		wg.Go(func() {
			defer client.CloseIdleConnections()
			for k := range calls - 1 {
				call(client, url, fmt.Sprint(body, k))
			}
		})
	}
	wg.Wait()
	different := make(map[string]bool)
	for i, x := range p.record() {
		asked := string(x.Request.Body.Data)
		different[asked] = true
		if x.Seq != uint64(i+1) || x.State != capture.StateClosed || x.Fault != nil || asked != string(x.Response.Body.Data) {
			t.Errorf("exchange %d: number %d, %v, %v, or another answer", i, x.Seq, x.State, x.Fault)
		}
		name, _, _ := strings.Cut(asked, " ")
		if r.forward && (x.Client.Name != name || x.Client.How != "proxy-user") {
			t.Errorf("exchange %d of %s is from %s (%s)", i, name, x.Client.Name, x.Client.How)
		}
	}
	if stats := p.recorder.Stats(); len(different) != clients*calls || stats.Exchanges != clients*calls ||
		stats.Open != 0 || stats.LostBytes != 0 {
		t.Errorf("%d different exchanges; %+v", len(different), stats)
	}
	for done := false; !done; {
		mu.Lock()
		done = open == 0
		mu.Unlock()
		if !done {
			<-gone
		}
	}
	if made > clients+clients/5 { // a client may open another before it knows that one is free
		t.Errorf("%d connections to the agent", made)
	}
}

// What clients open and leave is closed after its time: connections, and in forward mode tunnels too.
func openedAndLeft(t *testing.T, r road) {
	const left = 200
	l := (way{r.secure}).listen(t)
	p := r.to(t, l.Addr().String(), func(o *proxy.Options) {
		o.IdleTimeout, o.HeadTimeout, o.TunnelTimeout = 20*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond
		if o.Forward != nil && r.secure {
			o.Forward.Tunnel = []hostname.Pattern{mustPattern(t, "*")}
		}
	})
	for range left {
		conn := must.Get(net.Dial("tcp", p.entry()))(t)
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(must.Patience))
		if r.forward && r.secure {
			write(t, conn, "CONNECT "+p.agent+" HTTP/1.1\r\nHost: "+p.agent+"\r\n\r\n")
		}
		if r.http2 && !r.secure {
			if r.forward {
				write(t, conn, "CONNECT "+p.agent+" HTTP/1.1\r\nHost: "+p.agent+"\r\n\r\n")
			}
			io.WriteString(conn, http2.ClientPreface) //nolint:errcheck // it may have been closed already
		}
		defer func() {
			if err := expectEnd(conn); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Errorf("it is open still: %v", err)
			}
		}()
	}
}
