package replay

import (
	"testing"

	"a2atap/proxy/expect"
)

func TestGetInstead(t *testing.T) {
	t.Parallel()
	const rest, rpc = "Host: h\r\nA2A-Version: 1.0\r\nAccept: text/event-stream\r\n",
		"Host: h\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: 9\r\n"
	for _, tt := range []struct {
		method, target, fields, body string
		want                         string // head and body
	}{
		{
			"POST", "/a/tasks/t%2F1:subscribe?tenant=x", rest + "Content-Length: 0\r\n", "",
			"GET /a/tasks/t%2F1?tenant=x HTTP/1.1\r\nHost: h\r\nA2A-Version: 1.0\r\nAccept: application/json\r\n\r\n",
		},
		{
			"GET", "/v1/tasks/t:subscribe", rest, "",
			"GET /v1/tasks/t HTTP/1.1\r\nHost: h\r\nA2A-Version: 1.0\r\nAccept: application/json\r\n\r\n",
		},
		{
			"POST", "/", rpc, `{"id":1, "method" : "SubscribeToTask","params":{"id":"t"}}`,
			"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nAccept: application/json\r\n" +
				"Content-Length: 50\r\n\r\n" + `{"id":1, "method" : "GetTask","params":{"id":"t"}}`,
		},
		{
			"POST", "/", rpc, `{"method":"tasks/resubscribe","params":{"id":"t"}}`,
			"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nAccept: application/json\r\n" +
				"Content-Length: 42\r\n\r\n" + `{"method":"tasks/get","params":{"id":"t"}}`,
		},
		{"POST", "/", rpc, `{"method":"tasks/sendSubscribe","params":{"id":"t"}}`, ""},
		{"POST", "/", rpc, `no JSON`, ""},
	} {
		out := outgoing{
			method: tt.method, at: address{target: tt.target}, body: []byte(tt.body),
			head: []byte(tt.method + " " + tt.target + " HTTP/1.1\r\n" + tt.fields + "\r\n"),
		}
		get, ok := getInstead(out)
		got := string(get.head) + string(get.body)
		if !ok {
			got = ""
		}
		expect.Same(t, tt.method+" "+tt.target+" "+tt.body, tt.want, got)
	}
}
