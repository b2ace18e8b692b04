package relay

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// The unary exchange of the benchmarks: 1.2 KB each way.
var (
	benchRequest = "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:41241\r\nUser-Agent: bench\r\nContent-Type: " +
		"application/json\r\n" +
		"A2A-Version: 1.0\r\nContent-Length: 1200\r\n\r\n" + strings.Repeat("q", 1200)
	benchAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1200\r\n\r\n" +
		strings.Repeat("a", 1200)
)

// event is one server-sent event of about 600 bytes, as a chunk.
var event = fmt.Sprintf("%x\r\n%s\r\n", 600, "data: "+strings.Repeat("e", 592)+"\n\n")

// unaryAgent answers requests while they arrive, without net/http, so that the benchmark measures little but the relay.
func unaryAgent(t testing.TB) (addr string) {
	l := listen(t)
	t.Cleanup(func() { l.Close() })
	answer := []byte(benchAnswer)
	go acceptAll(l, func(c net.Conn) {
		go func() {
			defer c.Close()
			b := make([]byte, 64<<10)
			for {
				if !readRequest(c, b) {
					return
				}
				if _, err := c.Write(answer); err != nil {
					return
				}
			}
		}()
	})
	return l.Addr().String()
}

// readRequest reads up to the end of a body of 1,200 bytes.
func readRequest(c net.Conn, b []byte) bool {
	var f headFinder
	head := 0
	for n := 0; head == 0 || n < head+1200; {
		k, err := c.Read(b[n:])
		if err != nil {
			return false
		}
		if n += k; head == 0 {
			head = f.find(b[:n])
		}
	}
	return true
}

// eventAgent sends one event for each byte that it is sent after the head of a request.
func eventAgent(t testing.TB) (addr string) {
	l := listen(t)
	t.Cleanup(func() { l.Close() })
	go acceptAll(l, func(c net.Conn) {
		go func() {
			defer c.Close()
			b := make([]byte, 4<<10)
			c.Read(b)
			io.WriteString(c, silentStream)
			e := []byte(event)
			for {
				n, err := c.Read(b)
				if err != nil {
					return
				}
				for range n {
					c.Write(e)
				}
			}
		}()
	})
	return l.Addr().String()
}

// newReverseProxy starts the standard library's proxy before the agent at addr.
func newReverseProxy(b testing.TB, addr string) string {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 100}
	proxy.FlushInterval = -1
	server := httptest.NewServer(proxy)
	b.Cleanup(func() {
		server.Close()
		proxy.Transport.(*http.Transport).CloseIdleConnections()
	})
	return server.Listener.Addr().String()
}

// ways are the paths from client to agent that are compared.
var ways = []struct {
	name string
	to   func(testing.TB, string) string
}{
	{"direct", func(_ testing.TB, addr string) string { return addr }},
	{"relay", func(t testing.TB, addr string) string { return newTap(t, addr, Config{}).Addr().String() }},
	{"reverseproxy", newReverseProxy},
}

// BenchmarkUnary measures one exchange after the other on one connection.
func BenchmarkUnary(b *testing.B) {
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			ask := unaryClient(b, way.to(b, unaryAgent(b)))
			for b.Loop() {
				ask()
			}
		})
	}
}

// unaryClient returns a function that makes one exchange.
func unaryClient(t testing.TB, addr string) func() {
	c := must.Get(net.Dial("tcp", addr))(t)
	t.Cleanup(func() { c.Close() })
	request, answer := []byte(benchRequest), make([]byte, 64<<10)
	return func() {
		must.Get(c.Write(request))(t)
		if !readRequest(c, answer) { // an answer has a head and 1,200 bytes too
			t.Fatal("the connection broke")
		}
	}
}

// BenchmarkEvent measures the time from a byte of the client to the event that it asks for, on one stream.
func BenchmarkEvent(b *testing.B) {
	for _, way := range ways[:2] { // net/http would not pass the bytes that ask for events at once
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			ask := eventClient(b, way.to(b, eventAgent(b)))
			for b.Loop() {
				ask()
			}
		})
	}
}

// eventClient begins a stream and returns a function that asks for one event and reads it.
func eventClient(t testing.TB, addr string) func() {
	c := must.Get(net.Dial("tcp", addr))(t)
	t.Cleanup(func() { c.Close() })
	// A request of endless length carries the bytes that ask.
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n")
	must.Get(io.ReadFull(c, make([]byte, len(silentStream))))(t)
	one, answer := []byte{'1'}, make([]byte, len(event))
	return func() {
		must.Get(c.Write(one))(t)
		must.Get(io.ReadFull(c, answer))(t)
	}
}

// TestAllocations keeps the relay from allocating for each exchange or event.
func TestAllocations(t *testing.T) {
	cfg := Config{Editor: unchangedEditor{}, HeadTimeout: time.Minute, IdleTimeout: time.Minute}
	ask := unaryClient(t, newTap(t, unaryAgent(t), cfg).Addr().String())
	if n := testing.AllocsPerRun(200, ask); n >= 1 {
		t.Errorf("an exchange allocates %v times, want 0", n)
	}
	ask = eventClient(t, newTap(t, eventAgent(t), cfg).Addr().String())
	if n := testing.AllocsPerRun(200, ask); n >= 1 {
		t.Errorf("an event allocates %v times, want 0", n)
	}
}

// An unchangedEditor is an Editor that leaves everything as it is.
type unchangedEditor struct{}

func (unchangedEditor) Request(_ int, head []byte) []byte         { return head }
func (unchangedEditor) Hold(int, []byte) int                      { return 0 }
func (unchangedEditor) Answer(int, []byte, []byte, []byte) []byte { return nil }
func (unchangedEditor) TooLarge(int)                              {}
