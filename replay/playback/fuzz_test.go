package playback_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
	"a2atap/replay/playback"
)

// No request disturbs the player. Its answers are always JSON for a JSON-RPC client, and messages with a status for a
// gRPC client.
func FuzzPlayback(f *testing.F) {
	src := capture.NewMemory(capture.Info{})
	for i, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","contextId":"c","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`,
	} {
		answer := `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`
		x := &capture.Exchange{
			Seq: uint64(i + 1), State: capture.StateClosed,
			Request: capture.Request{
				Head: []byte("POST /rpc HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"),
				Body: capture.Body{Data: []byte(body), Complete: true},
			},
			Response: &capture.Response{
				Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
				Body: capture.Body{Data: []byte(answer), Complete: true},
			},
		}
		must.Do(f, src.Append(capture.Steps(x)...))
		f.Add("/rpc", []byte(body))
	}
	f.Add("/tasks/t-1", []byte(`{"id":"t-1"}`))
	f.Add("/message:send", []byte(`{"message":{"messageId":"m","contextId":"c2","parts":[{"text":"hi"}]}}`))
	f.Add("/lf.a2a.v1.A2AService/GetTask", []byte("\x00\x00\x00\x00\x05\x12\x03t-1"))
	f.Add("/lf.a2a.v1.A2AService/SendMessage", []byte("\x00\x00\x00\x00\x11\x12\x0f\x0a\x01m\x12\x01c\x2a\x04\x0a\x02hi\x20\x01"))
	f.Add("/lf.a2a.v1.A2AService/Nothing", []byte("\x01"))
	f.Add("/grpc.health.v1.Health/Check", []byte("\x00\x00\x00\x00\x00"))
	p := must.Get(playback.New(context.Background(), src, playback.Options{}))(f)
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		if u, err := url.ParseRequestURI(path); err == nil && u.Host == "" {
			r.URL, r.RequestURI = u, path
		}
		r.Header.Set("Content-Type", "application/json")
		if strings.Contains(path, "Service/") || strings.Contains(path, "Health/") {
			r.Header.Set("Content-Type", "application/grpc")
			messages(t, p, r)
			return
		}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if json.Valid(body) && w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %q is answered with %q", path, body, w.Body.Bytes())
		}
	})
}

// messages asserts that an answer consists of complete messages and states the call's outcome.
func messages(t *testing.T, p *playback.Player, r *http.Request) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	res := w.Result()
	for rest := w.Body.Bytes(); len(rest) > 0; {
		frame, after, ok := grpc.Cut(rest)
		if !ok || !frame.Whole() {
			t.Fatalf("%s is answered with %q", r.URL.Path, w.Body.Bytes())
		}
		rest = after
	}
	if _, ok := grpc.StatusOf(func(name string) string { return cmp.Or(res.Trailer.Get(name), res.Header.Get(name)) }); !ok {
		t.Errorf("%s is answered without a status: %v %v", r.URL.Path, res.Header, res.Trailer)
	}
}
