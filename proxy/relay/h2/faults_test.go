package h2_test

import (
	"bytes"
	"fmt"
	"io"
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

// posting returns a fault that is one frame within the body of a request.
func posting(kind http2.FrameType, flags http2.Flags, stream uint32, payload string) func(f *http2.Framer) {
	return func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteData(1, false, []byte("abc"))
		f.WriteRawFrame(kind, flags, stream, []byte(payload))
		f.WriteData(1, true, []byte("def"))
	}
}

var faulties = []faulty{
	{"DATA with more padding than payload", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteRawFrame(http2.FrameData, http2.FlagDataPadded|http2.FlagDataEndStream, 1, []byte("\x09abc"))
	}, "", true},
	{"HEADERS with more padding than payload", func(f *http2.Framer) {
		f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, 1, []byte("\xf0abc"))
	}, "", true},
	{"a trailer that does not end the stream", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteData(1, false, []byte("abc"))
		begin(f, false, "x", "y")
		f.WriteData(1, true, nil)
	}, "", true},
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
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff}, EndHeaders: true, EndStream: true})
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
	{"HEADERS of a lower stream", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: fields(post...), EndHeaders: true})
		begin(f, true, post...)
	}, "", true},
	{"a window of a stream that overflows", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteWindowUpdate(1, 1<<31-1)
	}, "", false},
	{"an uppercase name", func(f *http2.Framer) { begin(f, true, with("X-Y", "z")...) }, "", false},
	{"an uppercase name before a body", func(f *http2.Framer) {
		begin(f, false, with("X-Y", "z")...)
		f.WriteData(1, true, []byte("abc"))
	}, "", false},
	{"an uppercase name in a trailer", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteData(1, false, []byte("abc"))
		begin(f, true, "X-Y", "z")
	}, "", false},
	{"a pseudo-field in a trailer", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteData(1, false, []byte("abc"))
		begin(f, true, ":path", "/")
	}, "", false},
	{"DATA with padding and no payload", posting(http2.FrameData, http2.FlagDataPadded, 1, ""), "", true},
	{
		"a trailer with more padding than payload",
		posting(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, 1, "\xf0abc"), "", true,
	},
	{
		"a trailer that cannot be decoded",
		posting(http2.FrameHeaders, http2.FlagHeadersEndStream|http2.FlagHeadersEndHeaders, 1, "\xff\xff"),
		"a header block that cannot be decoded", false,
	},
	{
		"a text of Huffman that is none",
		posting(http2.FrameHeaders, http2.FlagHeadersEndStream|http2.FlagHeadersEndHeaders, 1, "\x00\x01x\x84\xff\xff\xff\xff"),
		"a header block that cannot be decoded", false,
	},
	{"PING within a trailer", func(f *http2.Framer) {
		begin(f, false, post...)
		f.WriteData(1, false, []byte("abc"))
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0}, EndStream: true})
		f.WritePing(false, [8]byte{})
		f.WriteContinuation(1, true, []byte("\x01x\x01y"))
	}, "a frame within a header block", true},
	{"CONTINUATION within a body", posting(http2.FrameContinuation, http2.FlagContinuationEndHeaders, 1, "\x88"), "", true},
	{"SETTINGS of a wrong length", posting(http2.FrameSettings, 0, 0, "abc"), "", true},
	{
		"SETTINGS with an acknowledgement and a payload",
		posting(http2.FrameSettings, http2.FlagSettingsAck, 0, "\x00\x04\x00\x00\x00\x01"), "", true,
	},
	{"SETTINGS on a stream", posting(http2.FrameSettings, 0, 1, "\x00\x04\x00\x00\x00\x01"), "", true},
	{"SETTINGS with a window that is too large", posting(http2.FrameSettings, 0, 0, "\x00\x04\xff\xff\xff\xff"), "", false},
	{"SETTINGS with frames that are too small", posting(http2.FrameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01"), "", false},
	{
		"SETTINGS that are larger than allowed",
		posting(http2.FrameSettings, 0, 0, strings.Repeat("\x99\x99\x00\x00\x00\x01", 3_000)), "", false,
	},
	{"PING on a stream", posting(http2.FramePing, 0, 1, "abcdefgh"), "", true},
	{"WINDOW_UPDATE of a wrong length", posting(http2.FrameWindowUpdate, 0, 0, "abc"), "", true},
	{"WINDOW_UPDATE of a stream that is idle", posting(http2.FrameWindowUpdate, 0, 7, "\x00\x00\x00\x01"), "", false},
	{"RST_STREAM of a wrong length", posting(http2.FrameRSTStream, 0, 1, "abc"), "", true},
	{"RST_STREAM on stream 0", posting(http2.FrameRSTStream, 0, 0, "\x00\x00\x00\x08"), "", true},
	{"RST_STREAM of a stream that is idle", posting(http2.FrameRSTStream, 0, 7, "\x00\x00\x00\x08"), "", false},
	{"PRIORITY of a wrong length", posting(http2.FramePriority, 0, 1, "abc"), "", true},
	{"PRIORITY on stream 0", posting(http2.FramePriority, 0, 0, "abcde"), "", true},
	{"GOAWAY on a stream", posting(http2.FrameGoAway, 0, 1, "\x00\x00\x00\x01\x00\x00\x00\x00"), "", true},
	{"GOAWAY that is too short", posting(http2.FrameGoAway, 0, 0, "abcd"), "", true},
	{"a frame of an unknown type within a body", posting(0xee, 0xff, 1, "abc"), "", true},
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
	over := make(chan struct{})
	defer close(over)
	addr := agent(t, func(_ http.ResponseWriter, r *http.Request) { // an answer could end a stream before its fault
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	page := string(must.Get(os.ReadFile("../../../docs/security.md"))(t))
	for _, c := range faulties {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(page, "| "+c.deliberate) {
				t.Errorf("the page does not list %q", c.deliberate)
			}
			direct := madeOf(t, addr, c.write)
			sent := frames(func(f *http2.Framer) {
				f.WriteSettings()
				c.write(f)
			})
			for _, hold := range []bool{false, true} {
				var seen *witness
				t.Run(fmt.Sprintf("held %v", hold), func(t *testing.T) {
					var editor relay.Editor
					if hold {
						editor = passingEditor{}
					}
					p := newTap(t, addr, func(cfg *relay.Config) { cfg.Editor = editor })
					seen = p.seen
					expect.Equal(t, "what the agent makes of it", direct, madeOf(t, p.addr, c.write))
					came := arrived(t, editor, sent)
					if c.deliberate == "" {
						expect.Equal(t, "what the agent gets", normal(sent), came)
					} else if came == normal(sent) {
						t.Error("the page lists a difference that does not exist")
					}
				})
				if !hold {
					expect.Equal(t, "the Observer learns of what belongs to no request", c.unread, seen.unread(relay.SideClient))
				}
			}
		})
	}
}

// Of a frame that a client begins and does not complete the agent gets the beginning.
func TestBeginningsOfFramesOfClients(t *testing.T) {
	sent := frames(func(f *http2.Framer) {
		f.WriteSettings()
		begin(f, true, post...)
		f.WriteWindowUpdate(0, 1)
	})
	for n := 1; n < 9+4; n++ {
		for _, editor := range []relay.Editor{nil, passingEditor{}} {
			expect.Equal(t, fmt.Sprintf("without the last %d bytes", n), normal(sent[:len(sent)-n]), arrived(t, editor, sent[:len(sent)-n]))
		}
	}
}

// arrived returns what comes through a tap of what a client sends before it ends.
func arrived(t *testing.T, editor relay.Editor, sent []byte) string {
	t.Helper()
	l := listen(t)
	defer l.Close()
	p := newTap(t, l.Addr().String(), func(cfg *relay.Config) { cfg.Authority, cfg.Editor = "", editor })
	c := must.Get(net.Dial("tcp", p.addr))(t)
	defer c.Close()
	c.Write(append([]byte(http2.ClientPreface), sent...))
	c.(*net.TCPConn).CloseWrite()
	a := must.Get(l.Accept())(t)
	defer a.Close()
	a.SetDeadline(time.Now().Add(must.Patience))
	got := must.Get(io.ReadAll(a))(t)
	return normal(got[len(http2.ClientPreface):])
}

// unread reports whether the Observer received bytes of a side that belong to no request.
func (w *witness) unread(side string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.foreign[side]
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
	made, again := http2.ErrCodeNo, false
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
			if !got.IsAck() || got.Data != last {
				continue
			}
			if again {
				return made.String()
			}
			again = true // what waits for its turn passes before the second
			c.Write(frames(func(f *http2.Framer) { f.WritePing(false, last) }))
		}
	}
}
