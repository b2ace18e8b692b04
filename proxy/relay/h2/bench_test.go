package h2_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// The call of the benchmarks: 1.2 KB each way, as clients of gRPC send it, its fields in no table.
var (
	benchCall = frames(func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, BlockFragment: fields(
			":method", "POST", ":scheme", "http", ":path", "/lf.a2a.v1.A2AService/SendMessage", ":authority", "127.0.0.1:41241",
			"content-type", "application/grpc", "user-agent", "grpc-go/1.80.0", "te", "trailers", "a2a-version", "1.0",
		)})
		f.WriteData(1, true, make([]byte, 1200))
	})
	benchAnswer = frames(func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, BlockFragment: fields(
			":status", "200", "content-type", "application/grpc",
		)})
		f.WriteData(1, false, make([]byte, 1200))
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: fields(
			"grpc-status", "0", "grpc-message", "",
		)})
	})
)

// onStream gives all frames in b the number of a stream.
func onStream(b []byte, id uint32) {
	for len(b) > 0 {
		binary.BigEndian.PutUint32(b[5:], id)
		b = b[9+(int(b[0])<<16|int(b[1])<<8|int(b[2])):]
	}
}

// readStream reads frames to one that ends a stream, and returns its number.
func readStream(r io.Reader, buf []byte) (id uint32, ok bool) {
	for {
		if _, err := io.ReadFull(r, buf[:9]); err != nil {
			return 0, false
		}
		n := int(buf[0])<<16 | int(buf[1])<<8 | int(buf[2])
		kind, flags := buf[3], buf[4]
		id = binary.BigEndian.Uint32(buf[5:])
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			return 0, false
		}
		if kind <= 1 && flags&1 != 0 {
			return id, true
		}
	}
}

// benchAgent answers calls without a library, so that little but the relay is measured. Its fields are new each time.
func benchAgent(t testing.TB) (addr string) {
	l := listen(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in, buf, answer := io.Reader(c), make([]byte, 1<<16), bytes.Clone(benchAnswer)
				if _, err := io.ReadFull(in, buf[:len(http2.ClientPreface)]); err != nil {
					return
				}
				for {
					id, ok := readStream(in, buf)
					if !ok {
						return
					}
					onStream(answer, id)
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// reverseProxy starts the standard library's proxy before the agent at addr.
func reverseProxy(b testing.TB, addr string) string {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	b.Cleanup(transport.CloseIdleConnections)
	proxy.Transport, proxy.FlushInterval = transport, -1
	return agent(b, proxy.ServeHTTP)
}

// BenchmarkUnary measures one call after the other on one connection.
func BenchmarkUnary(b *testing.B) {
	for name, to := range map[string]func(testing.TB, string) string{
		"direct": func(_ testing.TB, addr string) string { return addr },
		"relay": func(t testing.TB, addr string) string {
			return newTap(t, addr, func(c *relay.Config) { c.Observer = nil }).addr
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			c := must.Get(net.Dial("tcp", to(b, benchAgent(b))))(b)
			defer c.Close()
			io.WriteString(c, http2.ClientPreface)
			call, buf := bytes.Clone(benchCall), make([]byte, 1<<16)
			id := uint32(1)
			for b.Loop() {
				onStream(call, id)
				must.Get(c.Write(call))(b)
				if got, ok := readStream(c, buf); !ok || got != id {
					b.Fatalf("stream %d ended, not %d", got, id)
				}
				id += 2
			}
		})
	}
}

// BenchmarkLibrary measures the same with the client of net/http, so that it can be compared with a proxy that is made
// of net/http.
func BenchmarkLibrary(b *testing.B) {
	body := strings.Repeat("q", 1200)
	for name, to := range map[string]func(testing.TB, string) string{
		"direct": func(_ testing.TB, addr string) string { return addr },
		"relay": func(t testing.TB, addr string) string {
			return newTap(t, addr, func(c *relay.Config) { c.Observer = nil }).addr
		},
		"reverseproxy": reverseProxy,
	} {
		b.Run(name, func(b *testing.B) {
			addr := to(b, agent(b, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				io.WriteString(w, body)
			}))
			c := client(b)
			ask(b, c, "http://"+addr, body)
			for b.Loop() {
				ask(b, c, "http://"+addr, body)
			}
		})
	}
}
