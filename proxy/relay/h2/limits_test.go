package h2_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// A wire is a client or an agent that writes and reads frames as it likes.
type wire struct {
	*http2.Framer
	net.Conn
	t   testing.TB
	enc *hpack.Encoder
	buf bytes.Buffer
}

func newWire(t testing.TB, c net.Conn) *wire {
	c.SetDeadline(time.Now().Add(must.Patience))
	w := &wire{Framer: http2.NewFramer(c, c), Conn: c, t: t}
	w.AllowIllegalWrites = true
	w.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	w.SetMaxReadFrameSize(1 << 24)
	w.enc = hpack.NewEncoder(&w.buf)
	return w
}

// acceptWire takes the next connection of an agent, past its preface.
func acceptWire(t testing.TB, l net.Listener) *wire {
	t.Helper()
	conn := must.Get(l.Accept())(t)
	t.Cleanup(func() { conn.Close() })
	readFull(t, conn, make([]byte, len(http2.ClientPreface)))
	w := newWire(t, conn)
	w.WriteSettings()
	return w
}

// dial connects to a tap, with the preface and settings.
func dial(t testing.TB, addr string, settings ...http2.Setting) *wire {
	t.Helper()
	c := must.Get(net.Dial("tcp", addr))(t)
	t.Cleanup(func() { c.Close() })
	w := newWire(t, c)
	io.WriteString(c, http2.ClientPreface)
	w.WriteSettings(settings...)
	return w
}

// block encodes fields, given as name, value, name, value.
func (w *wire) block(pairs ...string) []byte {
	w.buf.Reset()
	for i := 0; i+1 < len(pairs); i += 2 {
		w.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(w.buf.Bytes())
}

// get asks for something on a stream.
func (w *wire) get(id uint32, path string, more ...string) {
	pairs := append([]string{":method", "GET", ":scheme", "http", ":path", path, ":authority", "tap"}, more...)
	w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: w.block(pairs...), EndHeaders: true, EndStream: true,
	})
}

// next returns the next frame for which want is true; nil if the connection ends before.
func (w *wire) next(want func(http2.Frame) bool) http2.Frame {
	w.t.Helper()
	for {
		f, err := w.ReadFrame()
		if err != nil {
			w.t.Log(err)
			return nil
		}
		if want(f) {
			return f
		}
	}
}

// status waits for the answer on a stream.
func (w *wire) status(id uint32) string {
	w.t.Helper()
	f := w.next(func(f http2.Frame) bool {
		_, ok := f.(*http2.MetaHeadersFrame)
		return ok && f.Header().StreamID == id
	})
	if f == nil {
		return "none"
	}
	return f.(*http2.MetaHeadersFrame).PseudoValue("status")
}

// calm waits for the GOAWAY that tells the client to keep calm.
func (w *wire) calm() bool {
	w.t.Helper()
	f := w.next(func(f http2.Frame) bool { _, ok := f.(*http2.GoAwayFrame); return ok })
	return f != nil && f.(*http2.GoAwayFrame).ErrCode == http2.ErrCodeEnhanceYourCalm
}

// Floods of what would have to be kept end, and what need not be kept passes.
func TestFloods(t *testing.T) {
	addr := agent(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })
	for name, test := range map[string]func(t *testing.T, w *wire) bool{
		"a header block without end": func(t *testing.T, w *wire) bool {
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: w.block(":method", "GET")})
			piece := w.block("x", strings.Repeat("y", 8<<10))
			for range 1000 {
				if w.WriteContinuation(1, false, piece) != nil {
					break
				}
			}
			return w.calm()
		},
		"empty CONTINUATION": func(t *testing.T, w *wire) bool {
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: w.block(":method", "GET")})
			for range 2000 {
				if w.WriteContinuation(1, false, nil) != nil {
					break
				}
			}
			return w.calm()
		},
		"fields out of the table": func(t *testing.T, w *wire) bool {
			w.get(1, "/", "x", strings.Repeat("y", 3000))
			bomb := append(w.block(":method", "GET", ":scheme", "http", ":path", "/", ":authority", "tap"),
				bytes.Repeat([]byte{0x80 | 62}, 10_000)...) // the newest entry, 30 MB in all
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: bomb, EndHeaders: true, EndStream: true})
			return w.status(3) == "431"
		},
		"requests that are refused": func(t *testing.T, w *wire) bool {
			for id := range uint32(1_100) {
				w.get(2*id+1, "/", "host", "elsewhere")
			}
			return w.calm()
		},
		"resets": func(t *testing.T, w *wire) bool {
			for id := range uint32(100) { // the agent has its own limit
				w.get(2*id+1, "/")
				w.WriteRSTStream(2*id+1, http2.ErrCodeCancel)
			}
			w.get(1001, "/")
			return w.status(1001) == "200"
		},
		"pings and settings": func(t *testing.T, w *wire) bool {
			for range 1_000 {
				w.WritePing(false, [8]byte{1})
				w.WriteSettings()
			}
			w.get(1, "/")
			return w.status(1) == "200"
		},
		"a large table": func(t *testing.T, w *wire) bool {
			w.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1<<32 - 1})
			w.get(1, "/")
			return w.status(1) == "200"
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTap(t, addr, func(c *relay.Config) {
				c.Accept = func(authority []byte) error {
					if string(authority) == "elsewhere" {
						return io.ErrUnexpectedEOF
					}
					return nil
				}
			})
			w := dial(t, p.addr)
			if !test(t, w) {
				t.Error("it was not told so")
			}
		})
	}
}

// What we have to say waits until a frame that is under way is complete.
func TestNoWordWithinAFrame(t *testing.T) {
	l := listen(t)
	defer l.Close()
	p := newTap(t, l.Addr().String(), func(c *relay.Config) {
		c.Accept = func(authority []byte) error {
			if string(authority) == "elsewhere" {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
	})
	w := dial(t, p.addr)
	a := acceptWire(t, l)
	w.get(1, "/")
	a.next(func(f http2.Frame) bool { _, ok := f.(*http2.MetaHeadersFrame); return ok })
	a.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: a.block(":status", "200"), EndHeaders: true})
	if got := w.status(1); got != "200" {
		t.Fatalf("got %s", got)
	}
	body := strings.Repeat("x", 10_000)
	a.Conn.Write(append([]byte{0, 0x27, 0x10, 0, 1, 0, 0, 0, 1}, body[:5_000]...))
	io.ReadFull(w.Conn, make([]byte, 9+5_000)) // so that the frame is under way
	w.get(3, "/", "host", "elsewhere")
	p.seen.ended(1)
	for _, piece := range []string{body[5_000:7_000], body[7_000:]} {
		a.Conn.Write([]byte(piece))
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(w.Conn, got); err != nil || string(got) != piece {
			t.Fatalf("the rest of the frame is %.20q, %v", got, err)
		}
	}
	expect.Equal(t, "the refusal", "421", w.status(3))
}

// Ten thousand streams at once on one connection take memory in proportion to the data kept about each, and none once
// they have ended.
func TestManyStreams(t *testing.T) {
	l := listen(t)
	defer l.Close()
	p := newTap(t, l.Addr().String(), func(c *relay.Config) { c.Observer = nil })
	w := dial(t, p.addr)
	a := acceptWire(t, l)
	const streams = 10_000
	arrived := func(n int) {
		t.Helper()
		for range n {
			if a.next(func(f http2.Frame) bool { _, ok := f.(*http2.MetaHeadersFrame); return ok }) == nil {
				t.Fatal("a request is missing")
			}
		}
	}
	before := heap()
	for id := range uint32(streams) {
		w.get(2*id+1, "/")
		if id%100 == 99 {
			arrived(100)
		}
	}
	open := heap()
	if each := int64(open-before) / streams; open > before && each > 2<<10 {
		t.Errorf("a stream takes %d bytes", each)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for id := range uint32(streams) {
			a.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 2*id + 1, BlockFragment: a.block(":status", "200"), EndHeaders: true, EndStream: true,
			})
		}
	}()
	for range streams {
		if w.next(func(f http2.Frame) bool { _, ok := f.(*http2.MetaHeadersFrame); return ok }) == nil {
			t.Fatal("an answer is missing")
		}
	}
	<-done
	if after := heap(); after > before+streams*100 {
		t.Errorf("after all have ended %d bytes are held", after-before)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
