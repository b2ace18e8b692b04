package compare

import (
	"fmt"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

// answer reads an answer as an item.
func answer(call *a2a.Call, status int, body string) Item {
	r := ItemReader{Call: call}
	r.Add(0, a2a.DecodeAnswer(call, status, "application/json", []byte(body)))
	return r.Items[0]
}

// Errors over two bindings are equal if they have the same name, or the status that belongs to it.
func TestErrorsOverBothBindings(t *testing.T) {
	rpc := &a2a.Call{Binding: a2a.JSONRPC, Operation: a2a.GetTask, Dialects: a2a.Of(a2a.V1_0)}
	rest := &a2a.Call{Binding: a2a.HTTPJSON, Operation: a2a.GetTask, Dialects: a2a.Of(a2a.V1_0)}
	coded := func(code int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}`, code)
	}
	named := func(status int, reason string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":"no","details":[`+
			`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q,"domain":"a2a-protocol.org"}]}}`, status, reason)
	}
	bare := func(status int) string { return fmt.Sprintf(`{"error":{"code":%d,"message":"no"}}`, status) }
	for _, c := range []struct {
		name       string
		status     int
		rpc        string
		restStatus int
		rest       string
		want       bool
	}{
		{"one name", 200, coded(-32001), 404, named(404, "TASK_NOT_FOUND"), true},
		{"another name", 200, coded(-32001), 400, named(400, "TASK_NOT_CANCELABLE"), false},
		{"its status", 200, coded(-32001), 404, bare(404), true},
		{"another status", 200, coded(-32001), 500, bare(500), false},
		{"parameters", 200, coded(-32602), 400, bare(400), true},
		{"no such method, no such path", 200, coded(-32601), 404, bare(404), true},
		{"no such method, but a fault", 200, coded(-32601), 500, bare(500), false},
		{"no credentials", 401, coded(-32600), 401, bare(401), true},
		{"a code of nobody's", 200, coded(-32050), 500, bare(500), false},
	} {
		a, b := answer(rpc, c.status, c.rpc), answer(rest, c.restStatus, c.rest)
		if got := a.Same(b); got != c.want || b.Same(a) != got {
			t.Errorf("%s: %s and %s are the same: %t and %t, want %t", c.name, a, b, got, b.Same(a), c.want)
		}
	}
	if a, b := answer(rest, 404, bare(404)), answer(rest, 404, named(404, "TASK_NOT_FOUND")); a.Same(b) {
		t.Error("over one binding an error without its name is the same as one with it")
	}
}

// The common bindings and dialects of two calls decide which parts of their answers are compared.
func TestWording(t *testing.T) {
	call := func(b a2a.Binding, d ...a2a.Dialect) *a2a.Call { return &a2a.Call{Binding: b, Dialects: a2a.Of(d...)} }
	for _, c := range []struct {
		rec, live *a2a.Call
		want      wording
	}{
		{call(a2a.JSONRPC, a2a.V1_0), call(a2a.JSONRPC, a2a.V1_0), sameWords},
		{call(a2a.JSONRPC, a2a.V0_2), call(a2a.JSONRPC, a2a.V0_3), sameWords},
		{call(a2a.JSONRPC, a2a.V1_0), call(a2a.HTTPJSON, a2a.V1_0), otherEnvelope},
		{call(a2a.HTTPJSON, a2a.V0_3, a2a.V1_0), call(a2a.JSONRPC, a2a.V1_0), otherEnvelope},
		{call(a2a.JSONRPC, a2a.V0_3), call(a2a.HTTPJSON, a2a.V0_3), otherNames},
		{call(a2a.JSONRPC, a2a.V0_2, a2a.V0_3), call(a2a.JSONRPC, a2a.V1_0), otherNames},
		{call(a2a.JSONRPC, a2a.V0_1), call(a2a.JSONRPC, a2a.V0_2, a2a.V0_3), otherNames},
		{call(a2a.JSONRPC), call(a2a.JSONRPC, a2a.V1_0), sameWords},
		{call(a2a.NoBinding), call(a2a.NoBinding, a2a.V1_0), sameWords},
		{nil, call(a2a.JSONRPC, a2a.V1_0), sameWords},
	} {
		expect.Equal(t, fmt.Sprintf("%+v and %+v", c.rec, c.live), c.want, wordingOf(c.rec, c.live))
	}
}
