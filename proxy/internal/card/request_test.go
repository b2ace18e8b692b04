package card

import (
	"fmt"
	"testing"
)

// An answer is held for a call of the extended card, in whatever pieces that came, and for no other: nor is the body of
// another kept.
func TestCallsForCard(t *testing.T) {
	const asks, other = `{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`, `{"jsonrpc":"2.0","id":1,"method":"GetTask"}`
	length := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n", len(body)) }
	for _, test := range []struct {
		what, fields, body string
		held               int
	}{
		{"the call", length(asks), asks, maxCard},
		{"the call, in chunks", "Transfer-Encoding: chunked\r\n", asks, maxCard},
		{"the call, named as JSON", length(asks) + "Content-Type: Application/JSON; charset=utf-8\r\n", asks, maxCard},
		{"the call, in plain", length(asks) + "Content-Encoding: identity\r\n", asks, maxCard},
		{"the call, coded", length(asks) + "content-encoding: gzip\r\n", asks, 0},
		{"the call, named as text", length(asks) + "Content-Type: text/plain\r\n", asks, 0},
		{"the call, as long as none is", "Content-Length: 5000\r\n", asks, 0},
		{"another call", length(other), other, 0},
		{"another call, in chunks", "Transfer-Encoding: chunked\r\n", other, 0},
	} {
		for cut := range len(test.body) {
			for _, complete := range []bool{true, false} {
				l := (&Site{}).NewEditor(nil, nil)
				l.ObserveRequest(1, []byte("POST / HTTP/1.1\r\nHost: a\r\n"+test.fields+"\r\n"))
				l.ObserveRequestBody(1, []byte(test.body[:cut]))
				l.ObserveRequestBody(1, []byte(test.body[cut:]))
				if q := l.request(1); test.body == other && cut == 0 && q.length > 0 && q.body != nil {
					t.Errorf("%s: its body is kept", test.what)
				}
				held := test.held
				if complete {
					l.ObserveRequestEnd(1)
				} else {
					held = 0
				}
				if got := l.Hold(1, []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")); got != held {
					t.Fatalf("%s, cut at %d, complete %t: %d bytes are held, want %d", test.what, cut, complete, got, held)
				}
			}
		}
	}
}
