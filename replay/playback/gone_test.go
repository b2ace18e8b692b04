package playback

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// gone is a capture whose exchanges cannot be read a second time.
type gone struct{ capture.Source }

func (gone) Exchange(context.Context, uint64) (*capture.Exchange, error) {
	return nil, errors.New("the file is gone")
}

const ask = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`

// recordedTask is a call that asks for a task, and its answer.
func recordedTask() *capture.Exchange {
	return &capture.Exchange{
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
}

// If the recorded answer can no longer be read from the capture, the client gets an error, and the request does not
// count as served.
func TestAnswerIsGone(t *testing.T) {
	src := capture.NewMemory(capture.Info{})
	must.Do(t, src.Append(capture.Steps(recordedTask())...))
	p := must.Get(New(t.Context(), gone{src}, Options{}))(t)
	defer p.Close()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/rpc", strings.NewReader(ask))
	r.Header.Set("Content-Type", "application/json")
	p.ServeHTTP(w, r)
	expect.Contains(t, "the answer", "read exchange 1 of the capture again: the file is gone", w.Body.String())
	if got := p.Report(); got.Served != 0 || got.Missed != 1 {
		t.Errorf("%s", got.Verdict())
	}
}

// A client that has closed its sending side, which ends the request's context, still reads the answer.
func TestAnswerForWhoSendsNoMore(t *testing.T) {
	src := capture.NewMemory(capture.Info{})
	must.Do(t, src.Append(capture.Steps(recordedTask())...))
	p := must.Get(New(t.Context(), canceled{src}, Options{}))(t)
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", "/rpc", strings.NewReader(ask))
	r.Header.Set("Content-Type", "application/json")
	cancel()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if w.Code != 200 || p.Report().Served != 1 {
		t.Errorf("it is answered with %d %s", w.Code, w.Body.String())
	}
}

// canceled is a capture that cannot be read with a canceled context.
type canceled struct{ capture.Source }

func (c canceled) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.Source.Exchange(ctx, seq)
}
