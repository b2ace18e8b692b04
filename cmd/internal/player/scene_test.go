package player

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
	"a2atap/proxy/ca"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/replay/playback"
)

// recorded returns a recording of one call of a model, and one of another service.
func recorded(t *testing.T) *capture.Memory {
	memory := capture.NewMemory(capture.Info{})
	for i, to := range []string{"https://api.openai.com", "http://billing.example:8080"} {
		const ask, answer = `{"model":"m","messages":[{"role":"user","content":"x"}]}`, `{"ok":true}`
		body := func(text string) capture.Body {
			return capture.Body{Data: []byte(text), Size: int64(len(text)), Complete: true}
		}
		must.Do(t, memory.Append(capture.Steps(&capture.Exchange{
			Seq: uint64(i + 1), Started: time.Unix(0, 0), State: capture.StateClosed, Agent: capture.Peer{Name: fmt.Sprint("s", i+1), URL: to}, //nolint:gosec // small
			Request:  capture.Request{Head: []byte("POST /v1/chat HTTP/1.1\r\nHost: x\r\n\r\n"), Body: body(ask)},
			Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), Body: body(answer)},
		})...))
	}
	return memory
}

// Through the forward proxy, every upstream is played: in the clear, inside CONNECT, and over HTTP/2. What is not in the
// recording is refused in the same way, and what is live goes to the service itself.
func TestProgramsReachOnlyTheRecording(t *testing.T) {
	r := &run{flags: &Flags{}, live: map[string]bool{}}
	r.player = must.Get(playback.New(t.Context(), recorded(t), playback.Options{Upstream: upstream, UsedUp: playback.RepeatLast}))(t)
	defer r.player.Close()
	real, reached := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t), make(chan string, 10)
	service := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		reached <- q.URL.Path
		io.WriteString(w, "real")
	})}
	go service.Serve(real)
	defer service.Close()
	r.live[playback.Upstream("http://"+real.Addr().String())] = true
	authority := must.Get(ca.Open(t.TempDir()))(t)
	stage := newScene(authority.Leaf, r.plays)
	served := make(chan struct{})
	go func() { defer close(served); stage.serve(r.player) }()
	proxied := must.Get(r.record(proxy.Options{
		Connect: stage.connect, NoCallers: true,
		Forward: &forward.Spec{Listen: "127.0.0.1:0", Leaf: authority.Leaf, Bodies: recording.Recognized},
	}))(t)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	at := must.Get(url.Parse(proxied.forward().URL()))(t)
	transport := func(h2 bool) *http.Transport {
		c := &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: h2}
		t.Cleanup(c.CloseIdleConnections)
		return c
	}
	plain, over2 := &http.Client{Transport: transport(false)}, &http.Client{Transport: transport(true)}
	ask := func(c *http.Client, to, text string) string {
		t.Helper()
		body := fmt.Sprintf(`{"messages":[{"content":%q,"role":"user"}],"model":"m"}`, text)
		res := must.Get(c.Post(to+"/v1/chat", "application/json", strings.NewReader(body)))(t)
		defer res.Body.Close()
		answer := must.Get(io.ReadAll(res.Body))(t)
		if res.StatusCode != http.StatusOK {
			return fmt.Sprint(res.StatusCode)
		}
		return fmt.Sprint(res.ProtoMajor, " ", string(answer))
	}
	expect.Equal(t, "inside CONNECT", `1 {"ok":true}`, ask(plain, "https://api.openai.com", "x"))
	expect.Equal(t, "over HTTP/2", `2 {"ok":true}`, ask(over2, "https://api.openai.com", "x"))
	expect.Equal(t, "in the clear", `1 {"ok":true}`, ask(plain, "http://billing.example:8080", "x"))
	expect.Equal(t, "another prompt", "422", ask(plain, "https://api.openai.com", "y"))
	expect.Equal(t, "another host", "422", ask(plain, "https://unknown.example", "y"))
	expect.Equal(t, "another host in the clear", "422", ask(plain, "http://unknown.example", "y"))
	expect.Equal(t, "a live service", "1 real", ask(plain, "http://"+real.Addr().String(), "x"))
	expect.Equal(t, "its path", "/v1/chat", <-reached)

	// A tunnel for another protocol leads nowhere, and counts.
	conn := must.Get(net.Dial("tcp", at.Host))(t)
	fmt.Fprintf(conn, "CONNECT db.example:5432 HTTP/1.1\r\nHost: db.example:5432\r\n\r\n")
	conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47})
	conn.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, conn)
	conn.Close()
	transportEnds(plain, over2)
	must.Do(t, proxied.stop())
	stage.stop()
	<-served
	report := r.player.Report()
	expect.Equal(t, "report", "3 answered (3 exactly, 0 by meaning, 1 repeated), 4 missed, 0 never asked for, 1 live", report.Whole(int(r.calls.Load())))
	last := report.Misses[len(report.Misses)-1].String()
	if !strings.HasPrefix(last, "connection to http://db.example:5432: it does not speak HTTP") {
		t.Error(last)
	}
}

func transportEnds(clients ...*http.Client) {
	for _, c := range clients {
		c.CloseIdleConnections()
	}
}

// A tool gets the recorded messages, in the order of the requests, and what the server said by itself.
func TestToolsArePlayed(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	body := func(text string) capture.Body {
		return capture.Body{Data: []byte(text), Size: int64(len(text)), Complete: true}
	}
	seq := 0
	add := func(ask, answer string) {
		seq++
		must.Do(t, memory.Append(capture.Steps(&capture.Exchange{
			Seq: uint64(seq), Started: time.Unix(int64(seq), 0), State: capture.StateClosed, Agent: capture.Peer{Name: "files", URL: "stdio://files"}, //nolint:gosec // small
			Request:  capture.Request{Head: []byte("POST / HTTP/1.1\r\nHost: files\r\nContent-Type: application/json\r\n\r\n"), Body: body(ask)},
			Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), Body: body(answer)},
		})...))
	}
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"next"}}`
	for n := range 3 {
		add(fmt.Sprintf(call, fmt.Sprint(n)), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`, n, n))
	}
	events := "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
	var s capture.Splitter
	stream := s.Write([]byte(events))
	stream[0].At = 10 * time.Second // after all calls
	must.Do(t, memory.Append(capture.Steps(&capture.Exchange{
		Seq: 4, Started: time.Unix(0, 0), State: capture.StateClosed, Agent: capture.Peer{Name: "files", URL: "stdio://files"},
		Request:  capture.Request{Head: []byte("GET / HTTP/1.1\r\nHost: files\r\n\r\n")},
		Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true, Events: stream},
	})...))
	p := must.Get(playback.New(t.Context(), memory, playback.Options{Upstream: upstream}))(t)
	defer p.Close()
	ours, theirs := net.Pipe()
	played := &tools{player: p, plays: func(string) bool { return true }}
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { defer close(ended); played.serve(ctx, theirs); theirs.Close() }()
	greeting := `{"name":"files"}`
	go func() {
		ours.Write(append([]byte{0, 0, 0, 0, byte(len(greeting))}, greeting...))
		for _, id := range []string{`"a"`, `"b"`, `"c"`, `"d"`} {
			fmt.Fprintf(ours, call+"\n", id)
		}
	}()
	var first [1]byte
	must.Get(io.ReadFull(ours, first[:]))(t)
	expect.Equal(t, "greeting", "p", string(first[:]))
	var got strings.Builder
	buf := make([]byte, 4096)
	for strings.Count(got.String(), "\n") < 5 {
		got.Write(buf[:must.Get(ours.Read(buf))(t)])
	}
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":"a","result":{"n":0}}`, `{"jsonrpc":"2.0","id":"b","result":{"n":1}}`,
		`{"jsonrpc":"2.0","id":"c","result":{"n":2}}`, `"id":"d"`, "all 3 recorded answers to it were given",
		"notifications/tools/list_changed",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%s has no %s", got.String(), want)
		}
	}
	cancel()
	ours.Close()
	<-ended
}

// A message of a client that is too long to be compared ends the tool, and is a miss.
func TestAMessageThatIsTooLongIsMissed(t *testing.T) {
	p := must.Get(playback.New(t.Context(), recorded(t), playback.Options{Upstream: upstream}))(t)
	defer p.Close()
	ours, theirs := net.Pipe()
	played := &tools{player: p, plays: func(string) bool { return true }}
	go func() {
		greeting := `{"name":"files"}`
		ours.Write(append([]byte{0, 0, 0, 0, byte(len(greeting))}, greeting...))
		ours.Write(make([]byte, maxToolLine+1<<20))
	}()
	go io.Copy(io.Discard, ours)
	played.serve(t.Context(), theirs)
	ours.Close()
	theirs.Close()
	report := p.Report()
	if report.Missed != 1 || report.Misses[0].String() != "message to stdio://files: the message is longer than 16 MiB" {
		t.Errorf("misses: %v", report.Misses)
	}
}

// A client that closes the input of a tool gets the answers that the recording has, and the end of the tool: also if the
// tool once gave no answer, and if the client does not read.
func TestToolsEnd(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	body := func(text string) capture.Body {
		return capture.Body{Data: []byte(text), Size: int64(len(text)), Complete: true}
	}
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"next"}}`
	for n := range 2 {
		x := &capture.Exchange{
			Seq: uint64(n + 1), Started: time.Unix(int64(n), 0), State: capture.StateClosed, Agent: capture.Peer{Name: "files", URL: "stdio://files"}, //nolint:gosec // small
			Request: capture.Request{Head: []byte("POST / HTTP/1.1\r\nHost: files\r\nContent-Type: application/json\r\n\r\n"), Body: body(fmt.Sprintf(call, n))},
		}
		if n == 0 {
			x.Fault = &capture.TransportFault{Kind: "client-left", Side: "client"}
		} else {
			x.Response = &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), Body: body(`{"jsonrpc":"2.0","id":1,"result":{}}`)}
		}
		must.Do(t, memory.Append(capture.Steps(x)...))
	}
	for _, reads := range []bool{true, false} {
		p := must.Get(playback.New(t.Context(), memory, playback.Options{Upstream: upstream}))(t)
		defer p.Close()
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer l.Close()
		ours := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		defer ours.Close()
		theirs := must.Get(l.Accept())(t)
		var conn net.Conn = theirs
		writing := make(chan struct{})
		if !reads {
			conn = &unread{Conn: theirs, writing: writing, done: make(chan struct{})}
		}
		played := &tools{player: p, plays: func(string) bool { return true }}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); played.serve(ctx, conn); theirs.Close() }()
		greeting := `{"name":"files"}`
		must.Get(ours.Write(append([]byte{0, 0, 0, 0, byte(len(greeting))}, greeting...)))(t)
		fmt.Fprintf(ours, call+"\n"+call+"\n", 7, 8)
		must.Do(t, ours.(*net.TCPConn).CloseWrite())
		if reads {
			expect.Equal(t, "answers", `p{"jsonrpc":"2.0","id":8,"result":{}}`+"\n", string(must.Get(io.ReadAll(ours))(t)))
		} else {
			<-writing
			cancel() // the program has ended
		}
		<-ended
		cancel()
	}
}

// An unread connection's client does not read after the first byte.
type unread struct {
	net.Conn
	writing, done chan struct{}
}

func (u *unread) Write(p []byte) (int, error) {
	if len(p) == 1 {
		return u.Conn.Write(p)
	}
	close(u.writing)
	<-u.done
	return 0, os.ErrDeadlineExceeded
}

func (u *unread) SetWriteDeadline(time.Time) error {
	close(u.done)
	return nil
}

// An agent that is played elsewhere is not played at its recorded address, too, whatever the path of its URL is.
func TestMovedAgentsLeaveTheirAddresses(t *testing.T) {
	busy := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer busy.Close()
	memory := capture.NewMemory(capture.Info{})
	body := func(text string) capture.Body {
		return capture.Body{Data: []byte(text), Size: int64(len(text)), Complete: true}
	}
	must.Do(t, memory.Append(capture.Steps(&capture.Exchange{
		Seq: 1, Started: time.Unix(0, 0), State: capture.StateClosed, Agent: capture.Peer{Name: "booker", URL: "http://" + busy.Addr().String() + "/a2a"},
		Request: capture.Request{
			Head: []byte("POST /a2a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\r\n"),
			Body: body(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user","messageId":"m","parts":[]}}}`),
		},
		Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), Body: body(`{"jsonrpc":"2.0","id":1,"result":{}}`)},
	})...))
	var printed bytes.Buffer
	r := &run{env: cli.Env{Err: &printed}, flags: &Flags{listen: []string{"booker=127.0.0.1:0"}}, own: map[hostname.Origin]bool{}}
	r.player = must.Get(playback.New(t.Context(), memory, playback.Options{Upstream: upstream}))(t)
	defer r.player.Close()
	expect.Equal(t, "address", "http://"+busy.Addr().String()+"/a2a", r.player.AddressOf("booker"))
	must.Get(r.listen(t.Context()))(t)()
	if text := printed.String(); !strings.HasPrefix(text, "booker http://127.0.0.1:") || strings.Contains(text, "in use") {
		t.Error(text)
	}
}
