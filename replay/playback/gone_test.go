package playback

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy/capture"
)

// gone is a capture whose exchanges cannot be read a second time.
type gone struct{ capture.Source }

func (gone) Exchange(context.Context, uint64) (*capture.Exchange, error) {
	return nil, errors.New("the file is gone")
}

// A request whose answer cannot be read from the capture any more is told so, and does not count as served.
func TestAnswerIsGone(t *testing.T) {
	src := capture.NewMemory(capture.Info{})
	const ask = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`
	x := &capture.Exchange{
		Seq: 1, State: capture.StateClosed, Agent: capture.Peer{Name: "a", URL: "http://127.0.0.1:1/rpc"},
		Request: capture.Request{
			Head: []byte("POST /rpc HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"),
			Body: capture.Body{Data: []byte(ask), Complete: true},
		},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
			Body: capture.Body{Data: []byte(`{"jsonrpc":"2.0","id":1,"result":{"id":"t1"}}`), Complete: true},
		},
	}
	if err := src.Append(capture.Steps(x)...); err != nil {
		t.Fatal(err)
	}
	p, err := New(t.Context(), gone{src}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/rpc", bytes.NewReader([]byte(ask)))
	r.Header.Set("Content-Type", "application/json")
	p.ServeHTTP(w, r)
	if body := w.Body.String(); !strings.Contains(body, "read exchange 1 of the capture again: the file is gone") {
		t.Errorf("the answer is %s", body)
	}
	if got := p.Report(); got.Served != 0 || got.Missed != 1 {
		t.Errorf("%s", got.Verdict())
	}
}
