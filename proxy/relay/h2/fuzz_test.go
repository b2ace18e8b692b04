package h2_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/relay"
	"a2atap/proxy/relay/h2"
)

// frames returns what write writes with a Framer.
func frames(write func(f *http2.Framer)) []byte {
	var b bytes.Buffer
	f := http2.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	write(f)
	return b.Bytes()
}

// fields returns a header block, given as name, value, name, value.
func fields(pairs ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i+1 < len(pairs); i += 2 {
		e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return b.Bytes()
}

// seeds are what clients and agents send, right and wrong.
func seeds() (clients, agents [][]byte) {
	get := fields(":method", "GET", ":scheme", "http", ":path", "/.well-known/agent-card.json", ":authority", "x")
	ok := fields(":status", "200", "content-type", "application/json")
	clients = [][]byte{
		frames(func(f *http2.Framer) {
			f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: get, EndHeaders: true, EndStream: true})
			f.WriteWindowUpdate(0, 10)
			f.WriteWindowUpdate(1, 10)
			f.WriteRSTStream(1, http2.ErrCodeCancel)
		}),
		frames(func(f *http2.Framer) {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: get[:3], PadLength: 7})
			f.WriteContinuation(1, true, get[3:])
			f.WriteDataPadded(1, false, []byte("hello"), make([]byte, 3))
			f.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: fields("x", "y\r\nz"), EndHeaders: true, EndStream: true,
			})
			f.WriteGoAway(1, http2.ErrCodeNo, []byte("bye"))
			f.WriteRawFrame(99, 1, 1, []byte("?"))
		}),
		frames(func(f *http2.Framer) {
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x80}, EndHeaders: true})
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: get})
			f.WritePing(false, [8]byte{})
		}),
	}
	agents = [][]byte{
		frames(func(f *http2.Framer) {
			f.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1 << 30},
				http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20})
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: ok, EndHeaders: true})
			f.WriteData(1, true, []byte(`{"name":"x"}`))
		}),
		frames(func(f *http2.Framer) {
			f.WritePushPromise(http2.PushPromiseParam{
				StreamID: 1, PromiseID: 2, BlockFragment: fields(":path", "/"), EndHeaders: true,
			})
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(":status", "103"), EndHeaders: true})
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: ok, EndHeaders: true, EndStream: true})
			f.WriteGoAway(0, http2.ErrCodeInternal, nil)
		}),
		[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
	}
	return clients, agents
}

// A cardEditor holds every answer, and puts another body into it.
type cardEditor struct{}

func (cardEditor) Request(_ int, head []byte) []byte { return head }
func (cardEditor) Hold(int, []byte) int              { return 100 }
func (cardEditor) TooLarge(int)                      {}
func (cardEditor) Answer(_ int, head, body, _ []byte) []byte {
	return append(bytes.Clone(head), bytes.ToUpper(body)...)
}

// An everythingEditor holds requests and answers.
type everythingEditor struct{ requestEditor }

func (everythingEditor) Hold(int, []byte) int { return 100 }

// A spoiler breaks each exchange in the way of its number.
type spoiler struct {
	cardEditor
	way byte
}

func (s spoiler) Hold(int, []byte) int { return 0 }

func (s spoiler) HoldRequest(int, []byte, []byte, bool) (limit int, patience time.Duration) {
	return 50, 0
}

func (s spoiler) KeepRequest(int, []byte) bool                   { return true }
func (s spoiler) RequestTooSlow(int)                             {}
func (s spoiler) HeldRequest(int, []byte, []byte, []byte) []byte { return nil }

func (s spoiler) Instead(uint32) *h2.Instead {
	switch s.way % 4 {
	case 0:
		return &h2.Instead{Head: []byte("HTTP/2 503\r\nx: y\r\n\r\n"), Content: []byte("no")}
	case 1:
		return &h2.Instead{Silence: time.Millisecond}
	}
	return nil
}

func (s spoiler) Break(uint32, []byte, bool) *h2.Break {
	code := http2.ErrCodeCancel
	content := func(p []byte, last bool) ([]h2.Piece, *h2.Ending) {
		pieces := []h2.Piece{{Bytes: bytes.Clone(p)}, {Wait: time.Microsecond, Bytes: bytes.Clone(p)}}
		switch {
		case len(p) < 3 && !last:
			return pieces, nil
		case s.way%3 == 0:
			return pieces, &h2.Ending{Reset: &code}
		case s.way%3 == 1:
			return pieces, &h2.Ending{Silence: time.Millisecond}
		}
		return pieces, &h2.Ending{Trailer: []byte("a: b\r\n")}
	}
	switch s.way % 5 {
	case 0:
		return &h2.Break{Reset: &code}
	case 1:
		return &h2.Break{Leave: func(uint32) http2.ErrCode { return code }}
	case 2:
		return &h2.Break{Wait: time.Microsecond}
	}
	return &h2.Break{Content: content}
}

// Whatever both ends send, the relay ends, and the Observer gets the right calls for each exchange.
func FuzzFrames(f *testing.F) {
	clients, agents := seeds()
	for _, c := range clients {
		for _, a := range agents {
			for edit := range byte(16) {
				f.Add(c, a, edit)
			}
		}
	}
	f.Fuzz(func(t *testing.T, fromClient, fromAgent []byte, edit byte) {
		client, tapped := net.Pipe()
		dialled, agent := net.Pipe()
		seen := newWitness(t).connection()
		cfg := relay.Config{
			Dial:      func(context.Context) (net.Conn, error) { return dialled, nil },
			Authority: "agent:1", Observer: seen, HeadLimit: 1 << 12,
		}
		switch edit {
		case 0:
		case 1:
			cfg.Editor = everythingEditor{}
		default:
			cfg.Editor = spoiler{way: edit}
		}
		var wait sync.WaitGroup
		for end, says := range map[net.Conn][]byte{client: fromClient, agent: fromAgent} {
			wait.Go(func() { io.Copy(io.Discard, end) })
			wait.Go(func() {
				end.Write(says)
				end.Close()
			})
		}
		h2.Serve(context.Background(), tapped, []byte(http2.ClientPreface), cfg)
		client.Close()
		agent.Close()
		wait.Wait()
		seen.over()
	})
}
