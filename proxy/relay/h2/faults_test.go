package h2_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// A faulty is a fault of a client: the frames that it sends on stream 1, behind SETTINGS.
type faulty struct {
	name  string
	write func(f *http2.Framer)
	// what the page of security lists it as; "" for one that passes as it came
	deliberate string
	unread     bool // it belongs to no request, which the Observer learns
}

var post = []string{":method", "POST", ":scheme", "http", ":path", "/", ":authority", "x"}

func begin(f *http2.Framer, end bool, pairs ...string) {
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(pairs...), EndHeaders: true, EndStream: end})
}

func with(more ...string) []string { return append(append([]string(nil), post...), more...) }

var faulties = []faulty{
	{"DATA with more padding than payload", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteRawFrame(http2.FrameData, http2.FlagDataPadded|http2.FlagDataEndStream, 1, []byte("\x09abc"))
	}, "", false},
	{"HEADERS with more padding than payload", func(f *http2.Framer) {
		f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, 1, []byte("\xf0abc"))
	}, "", true},
	{"a trailer that does not end the stream", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteData(1, false, []byte("abc"))
		begin(f, false, "x", "y")
		f.WriteData(1, true, nil)
	}, "", false},
	{"PING within a header block", func(f *http2.Framer) {
		block := fields(post...)
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:2], EndStream: true})
		f.WritePing(false, [8]byte{})
		f.WriteContinuation(1, true, block[2:])
	}, "a frame within a header block", true},
	{"CONTINUATION of another stream", func(f *http2.Framer) {
		block := fields(post...)
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:2], EndStream: true})
		f.WriteContinuation(3, true, block[2:])
	}, "a frame within a header block", true},
	{"CONTINUATION without HEADERS", func(f *http2.Framer) { f.WriteContinuation(1, true, fields(post...)) }, "", true},
	{"a table size update at the end of a block", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: append([]byte("\x83\x84\x86"), 0x20),
		})
	}, "a change of the table at the end", false},
	{"a block that cannot be decoded", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x80}, EndHeaders: true, EndStream: true})
	}, "a header block that cannot be decoded", false},
	{"a request that is given up at once", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteRSTStream(1, http2.ErrCodeCancel)
	}, "", false},
	{"DATA after the end", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteData(1, true, []byte("abc"))
		f.WriteData(1, true, []byte("def"))
	}, "", true},
	{"DATA on a stream that is idle", func(f *http2.Framer) { f.WriteData(1, true, []byte("abc")) }, "", true},
	{"DATA on stream 0", func(f *http2.Framer) { f.WriteRawFrame(http2.FrameData, 0, 0, []byte("abc")) }, "", true},
	{"HEADERS on an even stream", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2, BlockFragment: fields(post...), EndHeaders: true, EndStream: true})
	}, "", true},
	{"a window that overflows", func(f *http2.Framer) { f.WriteWindowUpdate(0, 1<<31-1) }, "", false},
	{"a window that grows by nothing", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteRawFrame(http2.FrameWindowUpdate, 0, 1, make([]byte, 4))
	}, "", false},
	{"PUSH_PROMISE of a client", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: fields(post...), EndHeaders: true})
	}, "", true},
	{"a pseudo-field behind others", func(f *http2.Framer) {
		begin(f, true, ":method", "GET", ":scheme", "http", "a", "b", ":path", "/", ":authority", "x")
	}, "", false},
	{"a pseudo-field twice", func(f *http2.Framer) { begin(f, true, with(":path", "/y")...) }, "", false},
	{"a field of a connection", func(f *http2.Framer) { begin(f, true, with("connection", "close")...) }, "", false},
	{"te other than trailers", func(f *http2.Framer) { begin(f, true, with("te", "gzip")...) }, "", false},
	{"another length than declared", func(f *http2.Framer) {
		begin(f, false, with("content-length", "5")...)
		f.WriteData(1, true, []byte("abc"))
	}, "", false},
	{"an empty :path", func(f *http2.Framer) {
		begin(f, true, ":method", "GET", ":scheme", "http", ":path", "", ":authority", "x")
	}, "", false},
	{"PING of a wrong length", func(f *http2.Framer) { f.WriteRawFrame(http2.FramePing, 0, 0, []byte("abc")) }, "", true},
	{"a frame of an unknown type", func(f *http2.Framer) { f.WriteRawFrame(0xee, 0, 0, []byte("abc")) }, "", true},
	{"control frames without end", func(f *http2.Framer) {
		for range 5000 {
			f.WritePriority(1, http2.PriorityParam{})
		}
	}, "", true},
	{"an ordinary connection without a request", func(f *http2.Framer) {
		f.WritePing(false, [8]byte{})
		f.WriteWindowUpdate(0, 1)
		f.WritePriority(1, http2.PriorityParam{})
		f.WriteRawFrame(0x10, 0, 0, []byte("\x00\x00\x00\x01u=1"))
		f.WriteGoAway(0, http2.ErrCodeNo, nil)
	}, "", false},
}

// A passingEditor holds requests, and sends them as they came.
type passingEditor struct{ requestEditor }

func (passingEditor) HeldRequest(int, []byte, []byte, []byte) []byte { return nil }

// What an agent makes of a faulty client is the same through a tap, whether requests are held there or not, but for what
// the page of security lists; and the Observer learns of what belongs to no request.
func TestFaultsOfClients(t *testing.T) {
	addr := agent(t, func(http.ResponseWriter, *http.Request) {})
	page := string(must.Get(os.ReadFile("../../../docs/security.md"))(t))
	for _, c := range faulties {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(page, "| "+c.deliberate) {
				t.Errorf("the page does not list %q", c.deliberate)
			}
			direct := madeOf(t, addr, c.write)
			for _, hold := range []bool{false, true} {
				var seen *witness
				t.Run(fmt.Sprintf("held %v", hold), func(t *testing.T) {
					p := newTap(t, addr, func(cfg *relay.Config) {
						if hold {
							cfg.Editor = passingEditor{}
						}
					})
					seen = p.seen
					expect.Equal(t, "what the agent makes of it", direct, madeOf(t, p.addr, c.write))
				})
				if !hold {
					expect.Equal(t, "the Observer learns of what belongs to no request", c.unread, seen.unread())
				}
			}
		})
	}
}

// unread reports whether the Observer was told of bytes that belong to no request.
func (w *witness) unread() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.foreign
}

// madeOf sends frames, and returns the first error that the server names, of a stream or of the connection. STREAM_CLOSED
// counts only if the server names no other error: it follows others if their stream has ended by then.
func madeOf(t *testing.T, addr string, write func(f *http2.Framer)) string {
	t.Helper()
	c := must.Get(net.Dial("tcp", addr))(t)
	defer c.Close()
	c.SetDeadline(time.Now().Add(must.Patience))
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	f.WriteSettings()
	write(f)
	last := [8]byte{9} // which is answered behind all that is made of what came before
	f.WritePing(false, last)
	c.Write(b.Bytes())
	made := http2.ErrCodeNo
	note := func(code http2.ErrCode) {
		if made == http2.ErrCodeNo || made == http2.ErrCodeStreamClosed && code != http2.ErrCodeNo {
			made = code
		}
	}
	answers := http2.NewFramer(nil, c)
	for {
		got, err := answers.ReadFrame()
		if err != nil {
			return made.String()
		}
		switch got := got.(type) {
		case *http2.GoAwayFrame:
			if note(got.ErrCode); got.ErrCode != http2.ErrCodeNo {
				return made.String()
			}
		case *http2.RSTStreamFrame:
			note(got.ErrCode)
		case *http2.PingFrame:
			if got.IsAck() && got.Data == last {
				return made.String()
			}
		}
	}
}
