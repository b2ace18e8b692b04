package h2_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// An agentFault is a fault of an agent: the frames with which it answers the GET on stream 1, behind SETTINGS.
type agentFault struct {
	name  string
	write func(f *http2.Framer)
	// what the page of security lists it as; "" for one that passes as it came
	deliberate string
	unread     bool // it belongs to no request, which the Observer learns
}

var ok = []string{":status", "200", "content-type", "text/plain"}

func head(f *http2.Framer, end bool, pairs ...string) {
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(pairs...), EndHeaders: true, EndStream: end})
}

// answered writes a good answer, around a fault.
func answered(f *http2.Framer, fault func()) {
	head(f, false, ok...)
	f.WriteData(1, false, []byte("abc"))
	fault()
	f.WriteData(1, true, []byte("def"))
}

// raw returns a fault that is one frame within an answer.
func raw(kind http2.FrameType, flags http2.Flags, stream uint32, payload string) func(f *http2.Framer) {
	return func(f *http2.Framer) {
		answered(f, func() { f.WriteRawFrame(kind, flags, stream, []byte(payload)) })
	}
}

var agentFaults = []agentFault{
	{"none", func(f *http2.Framer) { answered(f, func() {}) }, "", false},
	{"none, with a trailer", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
		head(f, true, "x", "y")
	}, "", false},
	{"DATA with more padding than payload", raw(http2.FrameData, http2.FlagDataPadded, 1, "\x09abc"), "", true},
	{"DATA with padding and no payload", raw(http2.FrameData, http2.FlagDataPadded, 1, ""), "", true},
	{"HEADERS with more padding than payload", func(f *http2.Framer) {
		f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, 1, []byte("\xf0abc"))
	}, "", true},
	{"a trailer with more padding than payload", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
		f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1,
			[]byte("\xf0abc"))
	}, "", true},
	{"a trailer that does not end the stream", func(f *http2.Framer) { answered(f, func() { head(f, false, "x", "y") }) }, "", true},
	{"two heads", func(f *http2.Framer) { answered(f, func() { head(f, false, ok...) }) }, "", true},
	{"two heads, the second of which ends the stream", func(f *http2.Framer) {
		head(f, false, ok...)
		head(f, true, ":status", "500")
	}, "", false},
	{"an interim head behind the final one", func(f *http2.Framer) {
		answered(f, func() { head(f, false, ":status", "103", "a", "b") })
	}, "", true},
	{"an interim head that ends the stream", func(f *http2.Framer) { head(f, true, ":status", "103") }, "", false},
	{"101", func(f *http2.Framer) {
		head(f, false, ":status", "101")
		answered(f, func() {})
	}, "", false},
	{"DATA before HEADERS", func(f *http2.Framer) {
		f.WriteData(1, false, []byte("abc"))
		answered(f, func() {})
	}, "", true},
	{"DATA before HEADERS that ends the stream", func(f *http2.Framer) { f.WriteData(1, true, []byte("abc")) }, "", true},
	{"DATA between an interim head and the final one", func(f *http2.Framer) {
		head(f, false, ":status", "103")
		f.WriteData(1, false, []byte("abc"))
		answered(f, func() {})
	}, "", true},
	{"DATA after the end", func(f *http2.Framer) {
		answered(f, func() {})
		f.WriteData(1, false, []byte("ghi"))
	}, "", true},
	{"HEADERS after the end", func(f *http2.Framer) {
		answered(f, func() {})
		head(f, true, "x", "y")
	}, "", true},
	{"the end twice", func(f *http2.Framer) {
		answered(f, func() {})
		f.WriteData(1, true, nil)
	}, "", false},
	{"RST_STREAM in the middle", func(f *http2.Framer) {
		answered(f, func() { f.WriteRSTStream(1, http2.ErrCodeInternal) })
	}, "", false},
	{"RST_STREAM behind a part of the answer", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
		f.WriteRSTStream(1, http2.ErrCodeInternal)
	}, "", false},
	{"RST_STREAM behind the answer", func(f *http2.Framer) {
		answered(f, func() {})
		f.WriteRSTStream(1, http2.ErrCodeNo)
	}, "", false},
	{"an answer that is not complete", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
	}, "", false},
	{"PING within a header block", func(f *http2.Framer) {
		block := fields(ok...)
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:2], EndStream: true})
		f.WritePing(false, [8]byte{})
		f.WriteContinuation(1, true, block[2:])
	}, "a frame within a header block", true},
	{"PING within a trailer", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0}, EndStream: true})
		f.WritePing(false, [8]byte{})
		f.WriteContinuation(1, true, []byte("\x01x\x01y"))
	}, "a frame within a header block", true},
	{"CONTINUATION of another stream", func(f *http2.Framer) {
		block := fields(ok...)
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:2], EndStream: true})
		f.WriteContinuation(3, true, block[2:])
	}, "a frame within a header block", true},
	{"DATA within a header block", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(ok...)})
		f.WriteData(1, true, []byte("abc"))
	}, "a frame within a header block", true},
	{"CONTINUATION without HEADERS", raw(http2.FrameContinuation, http2.FlagContinuationEndHeaders, 1, "\x88"), "", true},
	{"a table size update at the end of a block", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: append(fields(ok...), 0x20),
		})
	}, "a change of the table at the end", false},
	{"a table size update at the end of a trailer", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
		f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: []byte("\x00\x01x\x01y\x20"),
		})
	}, "a change of the table at the end", false},
	{"a block that cannot be decoded", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff}, EndHeaders: true, EndStream: true})
	}, "a header block that cannot be decoded", false},
	{"a text of Huffman that is none", func(f *http2.Framer) {
		f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, BlockFragment: []byte("\x88\x00\x01x\x84\xff\xff\xff\xff"), EndHeaders: true, EndStream: true,
		})
	}, "a header block that cannot be decoded", false},
	{"a trailer that cannot be decoded", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff}, EndHeaders: true, EndStream: true})
	}, "a header block that cannot be decoded", false},
	{"an uppercase name", func(f *http2.Framer) { head(f, true, ":status", "200", "X-Y", "z") }, "", false},
	{"an uppercase name in a trailer", func(f *http2.Framer) {
		head(f, false, ok...)
		head(f, true, "X-Y", "z")
	}, "", false},
	{"a pseudo-field behind others", func(f *http2.Framer) { head(f, true, "a", "b", ":status", "200") }, "", false},
	{"a pseudo-field twice", func(f *http2.Framer) { head(f, true, ":status", "200", ":status", "404") }, "", false},
	{"a pseudo-field in a trailer", func(f *http2.Framer) {
		head(f, false, ok...)
		f.WriteData(1, false, []byte("abc"))
		head(f, true, ":status", "200")
	}, "", false},
	{"a pseudo-field of requests", func(f *http2.Framer) { head(f, true, ":status", "200", ":path", "/") }, "", false},
	{"no status", func(f *http2.Framer) { head(f, true, "a", "b") }, "", false},
	{"a status that is none", func(f *http2.Framer) { head(f, true, ":status", "2000") }, "", false},
	{"a line break in a value", func(f *http2.Framer) { head(f, true, ":status", "200", "a", "b\r\nc: d") }, "", false},
	{"a field of a connection", func(f *http2.Framer) { head(f, true, ":status", "200", "connection", "close") }, "", false},
	{"another length than declared", func(f *http2.Framer) {
		head(f, false, ":status", "200", "content-length", "5")
		f.WriteData(1, true, []byte("abc"))
	}, "", false},
	{"a length that is none", func(f *http2.Framer) {
		head(f, false, ":status", "200", "content-length", "x")
		f.WriteData(1, true, []byte("abc"))
	}, "", false},
	{"a length twice", func(f *http2.Framer) {
		head(f, false, ":status", "200", "content-length", "3", "content-length", "4")
		f.WriteData(1, true, []byte("abc"))
	}, "", false},
	{"content of 204", func(f *http2.Framer) {
		head(f, false, ":status", "204")
		f.WriteData(1, true, []byte("abc"))
	}, "", false},
	{"SETTINGS of a wrong length", raw(http2.FrameSettings, 0, 0, "abc"), "", true},
	{"SETTINGS with an acknowledgement and a payload", raw(http2.FrameSettings, http2.FlagSettingsAck, 0, "\x00\x04\x00\x00\x00\x01"), "", true},
	{"SETTINGS on a stream", raw(http2.FrameSettings, 0, 1, "\x00\x04\x00\x00\x00\x01"), "", true},
	{"SETTINGS with a window that is too large", raw(http2.FrameSettings, 0, 0, "\x00\x04\xff\xff\xff\xff"), "", false},
	{"SETTINGS with frames that are too small", raw(http2.FrameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01"), "", false},
	{"SETTINGS that allow pushes", raw(http2.FrameSettings, 0, 0, "\x00\x02\x00\x00\x00\x01"), "", false},
	{"SETTINGS that nobody knows", raw(http2.FrameSettings, 0, 0, "\x99\x99\x00\x00\x00\x01"), "", false},
	{"PING of a wrong length", raw(http2.FramePing, 0, 0, "abc"), "", true},
	{"PING on a stream", raw(http2.FramePing, 0, 1, "abcdefgh"), "", true},
	{"WINDOW_UPDATE of a wrong length", raw(http2.FrameWindowUpdate, 0, 0, "abc"), "", true},
	{"a window that grows by nothing", raw(http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00"), "", false},
	{"a window of a stream that grows by nothing", raw(http2.FrameWindowUpdate, 0, 1, "\x00\x00\x00\x00"), "", false},
	{"a window that overflows", raw(http2.FrameWindowUpdate, 0, 0, "\x7f\xff\xff\xff"), "", false},
	{"a window of a stream that overflows", raw(http2.FrameWindowUpdate, 0, 1, "\x7f\xff\xff\xff"), "", false},
	{"WINDOW_UPDATE of a stream that is idle", raw(http2.FrameWindowUpdate, 0, 7, "\x00\x00\x00\x01"), "", false},
	{"RST_STREAM of a wrong length", raw(http2.FrameRSTStream, 0, 1, "abc"), "", true},
	{"RST_STREAM on stream 0", raw(http2.FrameRSTStream, 0, 0, "\x00\x00\x00\x08"), "", true},
	{"RST_STREAM of a stream that is idle", raw(http2.FrameRSTStream, 0, 7, "\x00\x00\x00\x08"), "", false},
	{"PRIORITY of a wrong length", raw(http2.FramePriority, 0, 1, "abc"), "", true},
	{"PUSH_PROMISE", func(f *http2.Framer) {
		answered(f, func() {
			f.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: fields(post...), EndHeaders: true})
		})
	}, "", true},
	{"PUSH_PROMISE that is too short", raw(http2.FramePushPromise, http2.FlagPushPromiseEndHeaders, 1, "abc"), "", true},
	{"HEADERS on an even stream", func(f *http2.Framer) {
		answered(f, func() {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2, BlockFragment: fields(ok...), EndHeaders: true, EndStream: true})
		})
	}, "", true},
	{"HEADERS on a stream that is idle", func(f *http2.Framer) {
		answered(f, func() {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 7, BlockFragment: fields(ok...), EndHeaders: true, EndStream: true})
		})
	}, "", true},
	{"HEADERS on stream 0", raw(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 0, "\x88"), "", true},
	{"DATA on a stream that is idle", raw(http2.FrameData, 0, 7, "abc"), "", true},
	{"DATA on stream 0", raw(http2.FrameData, 0, 0, "abc"), "", true},
	{"a frame that is larger than allowed", func(f *http2.Framer) {
		answered(f, func() { f.WriteData(1, false, bytes.Repeat([]byte("x"), 20_000)) })
	}, "", false},
	{"SETTINGS that are larger than allowed", raw(http2.FrameSettings, 0, 0, strings.Repeat("\x99\x99\x00\x00\x00\x01", 3_000)), "", false},
	{"a header block that is larger than allowed", func(f *http2.Framer) {
		f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, 1,
			append([]byte("\x88\x00\x01x\x7f\xb1\x9a\x01"), bytes.Repeat([]byte("x"), 20_000)...))
	}, "a header block that is larger than its receiver accepts", true},
	{"more DATA than the window", func(f *http2.Framer) {
		answered(f, func() {
			for range 8 {
				f.WriteData(1, false, bytes.Repeat([]byte("x"), 10_000))
			}
		})
	}, "more DATA than the window allows, of a message that is held", false},
	{"GOAWAY below the stream", func(f *http2.Framer) {
		answered(f, func() { f.WriteGoAway(0, http2.ErrCodeNo, nil) })
	}, "", false},
	{"GOAWAY at the stream", func(f *http2.Framer) {
		answered(f, func() { f.WriteGoAway(1, http2.ErrCodeNo, []byte("bye")) })
	}, "", false},
	{"GOAWAY above all streams", func(f *http2.Framer) {
		answered(f, func() { f.WriteGoAway(1<<31-1, http2.ErrCodeInternal, nil) })
	}, "", false},
	{"GOAWAY whose last stream grows", func(f *http2.Framer) {
		answered(f, func() {
			f.WriteGoAway(1, http2.ErrCodeNo, nil)
			f.WriteGoAway(7, http2.ErrCodeNo, nil)
		})
	}, "", false},
	{"GOAWAY on a stream", raw(http2.FrameGoAway, 0, 1, "\x00\x00\x00\x01\x00\x00\x00\x00"), "", true},
	{"GOAWAY that is too short", raw(http2.FrameGoAway, 0, 0, "abcd"), "", true},
	{"a frame of an unknown type", raw(0xee, 0, 0, "abc"), "", true},
	{"a frame of an unknown type on a stream", raw(0xee, 0xff, 1, "abc"), "", true},
	{"a frame of a known extension", raw(0x0a, 0, 0, "\x00\x01x"), "", false},
}

// A passingAnswers holds answers, or takes their content piece by piece, and sends them as they came.
type passingAnswers struct {
	cardEditor
	hold bool
}

func (e passingAnswers) Hold(int, []byte) int {
	if e.hold {
		return 1 << 20
	}
	return 0
}
func (passingAnswers) Answer(int, []byte, []byte, []byte) []byte { return nil }
func (passingAnswers) Change(int, []byte) relay.Change           { return passingChange{} }

type passingChange struct{}

func (passingChange) Next(p []byte, _ bool) []byte { return p }

// What a client gets of a faulty agent is the same through a tap, whether answers are held there, changed or neither, but
// for what the page of security lists; and the Observer learns of what belongs to no request.
func TestFaultsOfAgents(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/security.md"))(t))
	for _, c := range agentFaults {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(page, "| "+c.deliberate) {
				t.Errorf("the page does not list %q", c.deliberate)
			}
			addr := scripted(t, frames(func(f *http2.Framer) {
				f.WriteSettings()
				c.write(f)
				f.WritePing(false, [8]byte{9})
			}))
			direct := received(t, addr)
			for mode, editor := range map[string]relay.Editor{
				"free": nil, "held": passingAnswers{hold: true}, "changed": passingAnswers{},
			} {
				t.Run(mode, func(t *testing.T) {
					p := newTap(t, addr, func(cfg *relay.Config) { cfg.Editor = editor })
					got := received(t, p.addr)
					if c.deliberate == "" || mode == "free" && strings.HasSuffix(c.deliberate, "held") {
						expect.Equal(t, "what the client gets", direct, got)
					} else if got == direct {
						t.Error("the page lists a difference that does not exist")
					}
					expect.Equal(t, "the Observer learns of what belongs to no request", c.unread, p.seen.unread(relay.SideAgent))
				})
			}
		})
	}
}

// Of a frame that an agent begins and does not complete the client gets the beginning.
func TestBeginningsOfFrames(t *testing.T) {
	says := frames(func(f *http2.Framer) {
		f.WriteSettings()
		answered(f, func() {})
		f.WriteWindowUpdate(0, 1)
	})
	for n := 1; n < 9+4; n++ {
		addr := scripted(t, says[:len(says)-n])
		p := newTap(t, addr, nil)
		expect.Equal(t, fmt.Sprintf("without the last %d bytes", n), received(t, addr), received(t, p.addr))
		expect.Equal(t, "the Observer learns of what belongs to no request", true, p.seen.unread(relay.SideAgent))
	}
}

// scripted serves connections, each of which answers its first request with these bytes and ends.
func scripted(t *testing.T, says []byte) (addr string) {
	l := listen(t)
	served := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.SetDeadline(time.Now().Add(must.Patience))
			readFull(t, c, make([]byte, len(http2.ClientPreface)))
			if _, ok := readStream(c, make([]byte, 1<<16)); ok {
				c.Write(says)
				c.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, c)
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

// received sends a request and returns what comes until the connection ends.
func received(t *testing.T, addr string) string {
	t.Helper()
	c := must.Get(net.Dial("tcp", addr))(t)
	defer c.Close()
	c.SetDeadline(time.Now().Add(must.Patience))
	c.Write(append([]byte(http2.ClientPreface), frames(func(f *http2.Framer) {
		f.WriteSettings()
		f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, EndHeaders: true, EndStream: true,
			BlockFragment: fields(":method", "GET", ":scheme", "http", ":path", "/", ":authority", "x"),
		})
	})...))
	return normal(must.Get(io.ReadAll(c))(t))
}

// normal returns frames by stream. Content of one message is joined, without its padding, since the frames that carry it may
// be others.
func normal(b []byte) string {
	var streams [10]strings.Builder
	var block []byte
	dec := hpack.NewDecoder(4096, nil)
	for len(b) >= 9 {
		n := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
		kind, flags, id := http2.FrameType(b[3]), http2.Flags(b[4]), b[8]
		payload := b[9:min(len(b), 9+n)]
		b = b[min(len(b), 9+n):]
		out := &streams[min(int(id), 9)]
		if block != nil && kind != http2.FrameContinuation {
			fmt.Fprintf(out, "\na block of which %d bytes came\n", len(block))
			block = nil
		}
		end := ""
		if kind <= 1 && flags.Has(http2.FlagDataEndStream) {
			end = "END"
		}
		switch {
		case kind == http2.FrameData && id%2 == 1 && !flags.Has(http2.FlagDataPadded):
			fmt.Fprintf(out, "%s%s", payload, end)
		case kind == http2.FrameHeaders && !flags.Has(http2.FlagHeadersPadded), kind == http2.FrameContinuation && block != nil:
			if block = append(block, payload...); flags.Has(http2.FlagHeadersEndHeaders) {
				list, err := dec.DecodeFull(block)
				fmt.Fprintf(out, "\n%v%v%s", kind, list, end)
				if err != nil || bytes.HasSuffix(block, []byte{0x20}) { // a change of the table's size to 0
					fmt.Fprintf(out, " %v %q", err, block)
				}
				fmt.Fprintln(out)
				block = nil
			}
		case kind == http2.FramePushPromise && len(payload) > 4:
			list, err := dec.DecodeFull(payload[4:])
			fmt.Fprintf(out, "\n%v%v %v\n", kind, list, err)
		default:
			fmt.Fprintf(out, "\n%v %v %q\n", kind, flags, payload)
		}
	}
	var all strings.Builder
	for id := range streams {
		fmt.Fprintf(&all, "stream %d:%s\n", id, streams[id].String())
	}
	return fmt.Sprintf("%s%q", all.String(), b)
}
