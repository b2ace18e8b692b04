package playback_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay/playback"
)

// No recorded bytes disturb the player, and the request that was recorded gets its answer, or an error.
func FuzzRecordedCalls(f *testing.F) {
	f.Add([]byte("POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"), []byte(chatOf("x")),
		[]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"), []byte("data: {}\n\n: x\n\ndata"))
	f.Add([]byte("POST /mcp?key=1 HTTP/1.1\r\nMcp-Session-Id: a\r\nContent-Encoding: br\r\n\r\n"), []byte(rpc("tools/call", 1, `{"_meta":{"progressToken":1}}`)),
		[]byte("HTTP/1.1 401 No\r\nMcp-Session-Id: b\r\nContent-Encoding: gzip\r\n\r\n"), []byte("\x1f\x8b\x08\x00"))
	f.Add([]byte("GET http://x/y HTTP/1.1\r\n\r\n"), []byte{}, []byte("HTTP/1.1 999\r\n: \r\nContent-Type: application/x-ndjson\r\n\r\n"), []byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, requestHead, request, answerHead, answer []byte) {
		body := func(b []byte) capture.Body {
			return capture.Body{Data: append([]byte{}, b...), Size: int64(len(b)), Complete: true}
		}
		x := &capture.Exchange{
			Seq: 1, State: capture.StateClosed, Agent: capture.Peer{Name: "s", URL: "http://s.example"},
			Request:  capture.Request{Head: requestHead, Body: body(request)},
			Response: &capture.Response{Head: answerHead, Body: body(answer)},
		}
		if bytes.Contains(answerHead, []byte("event-stream")) {
			var s capture.Splitter
			x.Response.Stream, x.Response.Body.Data, x.Response.Events = true, nil, s.Write(answer)
		}
		src := capture.NewMemory(capture.Info{})
		must.Do(t, src.Append(capture.Steps(x)...))
		p := must.Get(playback.New(t.Context(), src, playback.Options{
			Upstream: func(*http.Request) string { return "http://s.example" },
		}))(t)
		defer p.Close()
		head := capture.ParseRequestHead(requestHead)
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(request))
		if u, err := url.ParseRequestURI(head.Target); err == nil && u.Host == "" {
			r.URL, r.RequestURI, r.Method = u, head.Target, head.Method
		}
		for _, field := range head.Fields {
			r.Header.Add(field.Name, field.Value)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // it is that value
				t.Fatalf("%v", v)
			}
		}()
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code == 0 {
			t.Error("no answer")
		}
	})
}
