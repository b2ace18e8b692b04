package h2_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
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
