package h2_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// All frames but those with header blocks pass byte for byte, in both directions, however their bytes are cut into
// writes.
func TestFramesPassAsTheyCame(t *testing.T) {
	sent := frames(func(f *http2.Framer) {
		f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 7}, http2.Setting{ID: 0x99, Val: 1})
		f.WriteSettingsAck()
		f.WritePriority(5, http2.PriorityParam{StreamDep: 3, Weight: 200, Exclusive: true})
		f.WriteDataPadded(1, false, []byte("padded"), make([]byte, 9))
		f.WriteData(1, false, nil)
		f.WriteData(1, true, bytes.Repeat([]byte("x"), 16<<10))
		f.WritePing(false, [8]byte{1, 2, 3})
		f.WriteWindowUpdate(0, 1<<20)
		f.WriteWindowUpdate(1, 3)
		f.WriteRawFrame(0x0a, 3, 1, []byte("ALTSVC"))
		f.WriteRawFrame(0xee, 0xff, 9, bytes.Repeat([]byte("?"), 70_000))
		f.WriteRSTStream(1, http2.ErrCode(0x99))
		f.WriteGoAway(9, http2.ErrCodeNo, []byte("bye"))
	})
	for _, step := range []int{1, 7, len(sent)} {
		l := listen(t)
		p := newTap(t, l.Addr().String(), nil)
		c := must.Get(net.Dial("tcp", p.addr))(t)
		io.WriteString(c, http2.ClientPreface)
		a := must.Get(l.Accept())(t)
		l.Close()
		for _, end := range []net.Conn{a, c} {
			end.SetDeadline(time.Now().Add(must.Patience))
		}
		if got := make([]byte, len(http2.ClientPreface)); readFull(t, a, got) != http2.ClientPreface {
			t.Errorf("the preface is %q", got)
		}
		for from, to := range map[net.Conn]net.Conn{c: a, a: c} {
			go func() {
				for rest := sent; len(rest) > 0; {
					n := min(step, len(rest))
					from.Write(rest[:n])
					rest = rest[n:]
				}
			}()
			expect.Equal(t, fmt.Sprintf("in writes of %d bytes other frames came", step),
				string(sent), readFull(t, to, make([]byte, len(sent))))
		}
		c.Close()
		a.Close()
	}
}

func readFull(t testing.TB, r io.Reader, p []byte) string {
	t.Helper()
	if n, err := io.ReadFull(r, p); err != nil {
		t.Fatalf("%d bytes and %v", n, err)
	}
	return string(p)
}

// A DATA frame that is not whole passes as far as it came.
func TestNothingIsHeld(t *testing.T) {
	l := listen(t)
	p := newTap(t, l.Addr().String(), nil)
	w := dial(t, p.addr)
	a := must.Get(l.Accept())(t)
	defer a.Close()
	l.Close()
	readFull(t, a, make([]byte, len(http2.ClientPreface)+9))
	w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, EndHeaders: true,
		BlockFragment: w.block(":method", "POST", ":scheme", "http", ":path", "/", ":authority", "tap"),
	})
	io.WriteString(w.Conn, "\x00\x00\x0a\x00\x01\x00\x00\x00\x01hello")
	head := []byte(readFull(t, a, make([]byte, 9)))
	readFull(t, a, make([]byte, int(head[2])))
	if got := readFull(t, a, make([]byte, 9+5)); got[9:] != "hello" {
		t.Errorf("got %q", got)
	}
	io.WriteString(w.Conn, "again")
	expect.Equal(t, "", "again", readFull(t, a, make([]byte, 5)))
	w.Conn.Close()
	if _, err := a.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the agent reads %v", err)
	}
	a.Close()
	e := p.seen.ended(1)[0]
	if string(e.Body) != "helloagain" || !e.Asked || e.Fault == nil || e.Fault.Kind != relay.KindClientLeft {
		t.Errorf("%+v, %v", e, e.Fault)
	}
}

// A header block is forwarded with its priority and padding, and with its never-indexed fields.
func TestHeaderBlocksKeepWhatTheyAre(t *testing.T) {
	l := listen(t)
	p := newTap(t, l.Addr().String(), nil)
	w := dial(t, p.addr)
	conn := must.Get(l.Accept())(t)
	defer conn.Close()
	l.Close()
	readFull(t, conn, make([]byte, len(http2.ClientPreface)))
	a := newWire(t, conn)
	pairs := []string{
		":method", "POST", ":scheme", "http", ":path", "/x", ":authority", "tap", "zz", "1", "aa", "2", "aa", "3",
	}
	block := append(w.block(pairs...), "\x10\x06secret\x01s"...)
	priority := http2.PriorityParam{StreamDep: 7, Weight: 9}
	w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 3, BlockFragment: block[:5], Priority: priority, PadLength: 11, EndStream: true,
	})
	w.WriteContinuation(3, true, block[5:])
	f := a.next(func(f http2.Frame) bool { _, ok := f.(*http2.MetaHeadersFrame); return ok }).(*http2.MetaHeadersFrame)
	if f.Priority != priority || !f.StreamEnded() || f.Header().Length < 11 {
		t.Errorf("%+v", f)
	}
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Name, field.Value)
		expect.Equal(t, "", field.Name == "secret", field.Sensitive)
	}
	pairs[7] = p.agent
	if want := append(pairs, "secret", "s"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
