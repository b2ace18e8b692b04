package h2_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// fetchByBytes asks for something with a window of one byte on the stream, gives another for each that comes, and returns
// the frames of the answer.
func fetchByBytes(t *testing.T, addr string) (frames []string) {
	t.Helper()
	w := dial(t, addr, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
	defer w.Conn.Close()
	w.get(1, "/")
	for {
		f := w.next(func(f http2.Frame) bool { return f.Header().StreamID == 1 })
		if f == nil {
			t.Fatal("the answer does not end")
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			frames = append(frames, fmt.Sprintf("%q", f.Data()))
			if f.StreamEnded() {
				return frames
			}
			w.WriteWindowUpdate(1, uint32(len(f.Data())))
			w.WriteWindowUpdate(0, uint32(len(f.Data())))
		case *http2.MetaHeadersFrame:
			frames = append(frames, f.PseudoValue("status"))
		}
	}
}

// Through a tap a client that takes one byte at a time gets the same frames as without.
func TestWindowOfOneByte(t *testing.T) {
	const text = "each byte waits for the one before it"
	addr := agent(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
	want := fetchByBytes(t, addr)
	p := newTap(t, addr, nil)
	got := fetchByBytes(t, p.addr)
	if strings.Join(got, " ") != strings.Join(want, " ") || len(got) < len(text) {
		t.Errorf("through the tap %v, without it %v", got, want)
	}
	if e := p.seen.ended(1)[0]; string(e.AnswerBody) != text || e.Fault != nil {
		t.Errorf("observed %q, %v", e.AnswerBody, e.Fault)
	}
}

// An answerHolder holds answers, however long.
type answerHolder struct{ cardEditor }

func (answerHolder) Hold(int, []byte) int { return 1 << 20 }

// An answerChanger changes answers while they pass.
type answerChanger struct{ cardEditor }

func (answerChanger) Hold(int, []byte) int            { return 0 }
func (answerChanger) Change(int, []byte) relay.Change { return shouter{} }
func (shouter) Next(p []byte, _ bool) []byte          { return bytes.ToUpper(p) }

type shouter struct{}

// A client or an agent that takes nothing on a stream before it has seen the head, and then a little at a time, gets each
// message all the same: those that are held, changed, or passed.
func TestWindowThatOpensAfterTheHead(t *testing.T) {
	t.Parallel()
	const most = must.Patience
	for i, size := range []int{3, 40_000, 300_000, 3, 40_000, 300_000} {
		text, by := strings.Repeat("a", size), (*wire).allowMore
		if i >= 3 {
			by = (*wire).allowMoreOfAll
		}
		for name, editor := range map[string]relay.Editor{
			"answer, passed": nil, "answer, held": answerHolder{}, "answer, changed": answerChanger{},
		} {
			t.Run(fmt.Sprint(name, " ", size, i < 3), func(t *testing.T) {
				addr := agent(t, func(w http.ResponseWriter, _ *http.Request) {
					http.NewResponseController(w).Flush() // the length is not declared
					io.WriteString(w, text)
				})
				p := newTap(t, addr, func(c *relay.Config) { c.Editor = editor })
				w := dial(t, p.addr, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
				w.SetDeadline(time.Now().Add(most))
				w.get(1, "/")
				if got := len(w.takeSlowly(1, by)); got != size {
					t.Errorf("%d bytes came, want %d", got, size)
				}
			})
		}
		for name, editor := range map[string]relay.Editor{"request, passed": nil, "request, held": requestEditor{}} {
			t.Run(fmt.Sprint(name, " ", size, i < 3), func(t *testing.T) {
				l := listen(t)
				defer l.Close()
				p := newTap(t, l.Addr().String(), func(c *relay.Config) { c.Editor = editor })
				came := make(chan int, 1)
				go func() {
					w := acceptWire(t, l)
					w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
					came <- len(w.takeSlowly(1, by))
					w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: w.block(":status", "200"), EndHeaders: true, EndStream: true})
				}()
				ask(t, client(t), "http://"+p.addr, text)
				if got := <-came; got != size {
					t.Errorf("%d bytes came, want %d", got, size)
				}
			})
		}
	}
}

// allowMore allows n more bytes on a stream with WINDOW_UPDATE. sum is how many were allowed, these included.
func (w *wire) allowMore(id, n, sum uint32) { w.WriteWindowUpdate(id, n) }

// allowMoreOfAll allows three times the sum on all streams with SETTINGS, so that nothing else may come to allow the rest.
func (w *wire) allowMoreOfAll(id, n, sum uint32) {
	w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 3 * sum})
}

// takeSlowly takes the message on a stream: it allows nothing before the head, and then a piece at a time.
func (w *wire) takeSlowly(id uint32, allow func(w *wire, id, n, sum uint32)) (body []byte) {
	sum := uint32(0)
	more := func(n uint32) {
		sum += n
		allow(w, id, n, sum)
	}
	w.next(func(f http2.Frame) bool {
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			more(7)
			return f.Header().StreamID == id && f.StreamEnded()
		case *http2.DataFrame:
			body = append(body, f.Data()...)
			if n := uint32(len(f.Data())); n > 0 {
				more(n + min(n, 10_000))
				w.WriteWindowUpdate(0, n)
			}
			return f.StreamEnded()
		}
		return false
	})
	return body
}
