package compare_test

import (
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/replay/compare"
)

// An answer that only HTTP describes is named by its status, and two such answers are equal if their statuses are.
func TestRefusalsOfHTTP(t *testing.T) {
	send := &a2a.Call{Binding: a2a.JSONRPC, Operation: a2a.SendMessage, Dialects: a2a.Of(a2a.V1_0)}
	rest := &a2a.Call{Binding: a2a.HTTPJSON, Operation: a2a.SendMessage, Dialects: a2a.Of(a2a.V1_0)}
	const message = `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}}`
	item := func(call *a2a.Call, status int, media, body string) compare.Item {
		return compare.NewItem(0, a2a.DecodeAnswer(call, status, media, []byte(body)))
	}
	unauthorized := item(send, 401, "", "")
	for _, test := range []struct {
		name  string
		it    compare.Item
		shows string
		same  bool // equal to the empty 401
	}{
		{"401", unauthorized, "HTTP 401", true},
		{"401 with a page", item(send, 401, "text/html", "<p>Log in</p>"), "HTTP 401", true},
		{"403", item(send, 403, "", ""), "HTTP 403", false},
		{"a redirect", item(send, 307, "", ""), "HTTP 307", false},
		{"a gateway", item(send, 502, "text/html", "<p>Bad gateway</p>"), "HTTP 502", false},
		{"a result", item(send, 200, "application/json", `{"jsonrpc":"2.0","id":1,"result":`+message+`}`), "Message", false},
		{"success without content", item(send, 200, "", ""), "nothing", false},
		{"401 over HTTP+JSON", item(rest, 401, "", ""), "error HTTP 401", false},
		{
			"an error of JSON-RPC with 401",
			item(send, 401, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`),
			"error -32000", false,
		},
	} {
		expect.Equal(t, test.name, test.shows, test.it.String())
		expect.Equal(t, test.name+", the same", test.same, test.it.Same(unauthorized))
	}
}
