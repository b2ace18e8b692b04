package player

import (
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// An edited answer has the head of the file, or the recorded one without what describes the recorded body.
func TestEditedResponse(t *testing.T) {
	const coded = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nX-Id: 7\r\n\r\n"
	const events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	for name, tt := range map[string]struct {
		was, text  string
		head, body string // events joined with |
		doubt, err string
	}{
		"only a body":   {coded, "{}", "HTTP/1.1 200 OK|Content-Type: application/json|X-Id: 7||", "{}", "", ""},
		"an empty body": {coded, "", "HTTP/1.1 200 OK|Content-Type: application/json|X-Id: 7||", "", "the body is not JSON, although its media type is application/json", ""},
		"a head":        {coded, "HTTP/1.1 503 Busy\nRetry-After: 1\n\n{}\n", "HTTP/1.1 503 Busy|Retry-After: 1|Content-Type: application/json||", "{}\n", "", ""},
		"another type":  {coded, "HTTP/1.1 502 X\r\nContent-Type: text/html\r\n\r\n<p>", "HTTP/1.1 502 X|Content-Type: text/html||", "<p>", "", ""},
		"only a head":   {coded, "HTTP/1.1 204 No Content", "HTTP/1.1 204 No Content||", "", "", ""},
		"events":        {events, "data: 1\n\ndata: 2\n\ndata", "HTTP/1.1 200 OK|Content-Type: text/event-stream||", "data: 1\n\n|data: 2\n\n|data", "", ""},
		"a refusal of a stream": {
			events, "{}", "HTTP/1.1 200 OK|Content-Type: application/json||", "{}", "", "",
		},
		"no status": {coded, "HTTP/1.1 OK\n\n", "", "", "", `line 1, "HTTP/1.1 OK": not a version and a status code`},
		"no end":    {coded, "HTTP/1.1 100 Continue\n\n", "", "", "", "status 100 does not end an answer; use one from 200 on"},
		"gRPC":      {"HTTP/2 200\r\nContent-Type: application/grpc\r\n\r\n", "{}", "", "", "", "the recorded answer is gRPC; only answers over plain HTTP can be replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			now, doubt, err := editedResponse(&capture.Response{Head: []byte(tt.was), Stream: tt.was == events}, []byte(tt.text))
			if tt.err != "" {
				expect.Equal(t, "error", tt.err, err.Error())
				return
			}
			expect.OK(t, err)
			body := string(now.Body.Data)
			if now.Stream {
				var list []string
				for _, e := range now.Events {
					list = append(list, string(e.Raw))
				}
				body = strings.Join(list, "|")
			}
			expect.Equal(t, "head", tt.head, strings.ReplaceAll(string(now.Head), "\r\n", "|"))
			expect.Equal(t, "body", tt.body, body)
			expect.Equal(t, "doubt", tt.doubt, doubt)
		})
	}
}
