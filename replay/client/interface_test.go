package client

import (
	"fmt"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Of several interfaces with one binding the client uses the card's first, with its tenant and version. Interfaces
// that only 0.3 defines follow those of 1.0.
func TestFirstInterfaceOfABinding(t *testing.T) {
	const text = `{"name":"x","capabilities":{"streaming":true},"supportedInterfaces":[
		{"url":"http://h/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
		{"url":"http://h/first","protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"acme"},
		{"url":"http://h/second","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],
		"url":"http://h/old","protocolVersion":"0.3.0","preferredTransport":"JSONRPC",
		"additionalInterfaces":[{"url":"http://h/old-rest","transport":"HTTP+JSON"}]}`
	card := must.Get(decodeCard([]byte(text), "http://h/card.json"))(t)
	for _, tt := range []struct {
		prefer []Protocol
		want   Interface
	}{
		{[]Protocol{REST10}, Interface{"http://h/first", REST10, "acme"}},
		{[]Protocol{REST03}, Interface{"http://h/old-rest", REST03, ""}},
		{nil, Interface{"http://h/rpc", JSONRPC10, ""}},
	} {
		expect.Equal(t, tt.prefer, tt.want, must.Get(card.Choose(tt.prefer...))(t))
	}
}

// Each request states which answers the client can read, and in which version.
func TestAcceptFields(t *testing.T) {
	a := agent(t, reply(404, "application/json", `{}`))
	for p, want := range map[Protocol][3]string{
		REST10:    {"application/a2a+json, application/json", "text/event-stream, application/json", "1.0"},
		JSONRPC10: {"application/json", "text/event-stream, application/json", "1.0"},
		JSONRPC03: {"application/json", "text/event-stream, application/json", ""},
	} {
		c := speak(t, a, p, Options{})
		expect.Error(t, "HTTP 404 is an answer", expect.Err(c.Send(t.Context(), Text("x"), SendOptions{})))
		expect.Error(t, "HTTP 404 is a stream", drain(c.Stream(t.Context(), Text("x"), SendOptions{})))
		sent, streamed := <-a.seen, <-a.seen
		expect.Equal(t, p,
			want, [3]string{sent.header.Get("Accept"), streamed.header.Get("Accept"), sent.header.Get("A2A-Version")})
		expect.Equal(t, fmt.Sprintf("%s: the body is labelled", p),
			"application/json", streamed.header.Get("Content-Type"))
	}
}
