package playback_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/replay/playback"
)

// No request disturbs the player, and whatever it says to a JSON-RPC client is JSON.
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
		if err := src.Append(capture.Steps(x)...); err != nil {
			f.Fatal(err)
		}
		f.Add("/rpc", []byte(body))
	}
	f.Add("/tasks/t-1", []byte(`{"id":"t-1"}`))
	f.Add("/message:send", []byte(`{"message":{"messageId":"m","contextId":"c2","parts":[{"text":"hi"}]}}`))
	p, err := playback.New(context.Background(), src, playback.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		if u, err := url.ParseRequestURI(path); err == nil && u.Host == "" {
			r.URL, r.RequestURI = u, path
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if json.Valid(body) && w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %q is answered with %q", path, body, w.Body.Bytes())
		}
	})
}
