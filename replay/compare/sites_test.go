package compare_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/replay/compare"
)

// upper is a substitute with visible effects: it replaces values with the name of their role.
func upper(role compare.Role, text string) (string, bool) {
	switch {
	case role == compare.RequestID:
		return `"fresh"`, true
	case role == compare.NoRole && !compare.Opaque(text):
		return "", false
	}
	return "<" + role.String() + ">", true
}

func decode(method, target, body string) a2a.Call {
	header := func(name string) string {
		if strings.EqualFold(name, "Content-Type") && body != "" {
			return "application/json"
		}
		return ""
	}
	return a2a.DecodeRequest(a2a.Request{
		Method: method, Target: target, Header: header, Body: []byte(body), HasBody: body != "", BodyKept: true,
	}, a2a.Known{Bindings: a2a.BindingsOf(a2a.JSONRPC, a2a.HTTPJSON)})
}

var rewriteTests = []struct {
	name   string
	target string // of an HTTP+JSON request; empty for JSON-RPC
	body   string
	want   string
}{
	{
		"message of 1.0", "",
		`{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","taskId":"t","contextId":"c","referenceTaskIds":["a","b"],"parts":[{"text":"see t and c"}]}}}`,
		`{"jsonrpc":"2.0","id":"fresh","method":"SendMessage","params":{"message":{"messageId":"<message id>","taskId":"<task id>","contextId":"<context id>","referenceTaskIds":["<task id>","<task id>"],"parts":[{"text":"see t and c"}]}}}`,
	},
	{
		"get of 1.0", "",
		`{"jsonrpc":"2.0","id":"x","method":"GetTask","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":"fresh","method":"GetTask","params":{"id":"<task id>"}}`,
	},
	{
		"push config of 1.0", "",
		`{"jsonrpc":"2.0","id":1,"method":"GetTaskPushNotificationConfig","params":{"taskId":"t","id":"p"}}`,
		`{"jsonrpc":"2.0","id":"fresh","method":"GetTaskPushNotificationConfig","params":{"taskId":"<task id>","id":"<push config id>"}}`,
	},
	{
		"push config of 0.3", "",
		`{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/get","params":{"id":"t","pushNotificationConfigId":"p"}}`,
		`{"jsonrpc":"2.0","id":"fresh","method":"tasks/pushNotificationConfig/get","params":{"id":"<task id>","pushNotificationConfigId":"<push config id>"}}`,
	},
	{
		"set push config of 0.3", "",
		`{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"t","pushNotificationConfig":{"id":"p","url":"http://h/"}}}`,
		`{"jsonrpc":"2.0","id":"fresh","method":"tasks/pushNotificationConfig/set","params":{"taskId":"<task id>","pushNotificationConfig":{"id":"<push config id>","url":"http://h/"}}}`,
	},
	{
		"send of 0.1", "",
		`{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t","sessionId":"s","message":{"role":"user","parts":[{"type":"text","text":"t"}]}}}`,
		`{"jsonrpc":"2.0","id":"fresh","method":"tasks/send","params":{"id":"<task id>","sessionId":"<context id>","message":{"role":"user","parts":[{"type":"text","text":"t"}]}}}`,
	},
	{
		"opaque values in data, words beside them", "",
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[{"data":{"id":"short","booking":"bk-93ab77f0021c","kind":"long-running-thing","at":"2026-01-01T00:00:00Z"}}]}}}`,
		`{"jsonrpc":"2.0","id":"fresh","method":"SendMessage","params":{"message":{"messageId":"<message id>","parts":[{"data":{"id":"short","booking":"<value>","kind":"long-running-thing","at":"2026-01-01T00:00:00Z"}}]}}}`,
	},
	{
		"cancel over HTTP+JSON of 0.3", "/v1/tasks/t:cancel", `{"name":"tasks/t"}`, `{"name":"tasks/<task id>"}`,
	},
	{"no JSON", "", `{"id":`, `{"id":`},
	{"spelling and space stay", "", `{ "a" : 1.50e1,"b":"\u0061" }`, `{ "a" : 1.50e1,"b":"\u0061" }`},
}

func TestRewriteJSON(t *testing.T) {
	for _, test := range rewriteTests {
		t.Run(test.name, func(t *testing.T) {
			target := "/rpc"
			if test.target != "" {
				target = test.target
			}
			got := string(compare.RewriteJSON([]byte(test.body), new(decode("POST", target, test.body)), upper))
			got = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(got)
			expect.Same(t, "", test.want, got)
		})
	}
}

func TestRewriteTarget(t *testing.T) {
	substitute := func(role compare.Role, text string) (string, bool) {
		return "N/" + text, role != compare.NoRole || compare.Opaque(text)
	}
	for target, want := range map[string]string{
		"/a/tasks/t":                                  "/a/tasks/N%2Ft",
		"/a/tasks/t:cancel":                           "/a/tasks/N%2Ft:cancel",
		"/a/tasks/urn:x:7":                            "/a/tasks/N%2Furn:x:7",
		"/a/tasks/t%2F1:subscribe":                    "/a/tasks/N%2Ft%2F1:subscribe",
		"/a/tasks/t/pushNotificationConfigs/p":        "/a/tasks/N%2Ft/pushNotificationConfigs/N%2Fp",
		"/a/tasks?contextId=c&pageSize=2&pageToken=x": "/a/tasks?contextId=N%2Fc&pageSize=2&pageToken=N%2Fx",
		"/tenant-5f0c2d9b1e77/message:send":           "/N%2Ftenant-5f0c2d9b1e77/message:send",
		"/a/message:send?x=%zz;y":                     "/a/message:send?x=%zz;y",
	} {
		call := a2a.Call{Binding: a2a.HTTPJSON}
		expect.Equal(t, target+" becomes", want, compare.RewriteTarget(target, &call, substitute))
	}
}

func TestOpaque(t *testing.T) {
	for text, want := range map[string]bool{
		"3f2a9c1e-7b44-4b1e-9a53-0c7f1d2e3a4b": true,
		"bk-93ab77f0021c":                      true,
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":           true,
		"Zm9vYmFyYmF6MTIzNA==":                 true,
		"short-1":                              false,
		"a longer text with 1 number":          false,
		"123456789012345":                      false,
		"long-running-thing":                   false,
		"application/a2a+json":                 false,
		"2026-01-01T00:00:00.000Z":             false,
		"http://127.0.0.1:9001/agent42":        false,
		"TASK_STATE_COMPLETED":                 false,
		"claude-sonnet-4-5":                    false,
		strings.Repeat("a1", 400):              false,
	} {
		expect.Equal(t, "Opaque("+text+")", want, compare.Opaque(text))
	}
}

// Valid JSON stays valid, other text stays unchanged, and without substitutions no byte changes.
func FuzzRewriteJSON(f *testing.F) {
	f.Add([]byte(
		`{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[{"text":"t"}]}}}`,
	), "/rpc")
	f.Add([]byte(`{"name":"tasks/t/pushNotificationConfigs/p","id":"t","status":{}}`), "/v1/tasks/t:cancel")
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"\ud800","result":{"id":"\u0000","id":"x","status":1}}]`),
		"/tasks/a?contextId=%ff&x")
	f.Add([]byte("\xef\xbb\xbf{\"id\":1e400,\"jsonrpc\":null}"), "/")
	f.Fuzz(func(t *testing.T, body []byte, target string) {
		call := decode("POST", target, string(body))
		got := compare.RewriteJSON(bytes.Clone(body), &call, upper)
		if json.Valid(body) && !json.Valid(got) {
			t.Errorf("valid JSON became invalid:\n%q\n%q", body, got)
		}
		if !json.Valid(body) && a2a.Parse(body).Err != nil && !bytes.Equal(body, got) {
			t.Errorf("what is not JSON was changed:\n%q\n%q", body, got)
		}
		none := func(compare.Role, string) (string, bool) { return "", false }
		if got := compare.RewriteJSON(bytes.Clone(body), &call, none); !bytes.Equal(body, got) {
			t.Errorf("nothing was substituted, and yet\n%q became\n%q", body, got)
		}
		if got := compare.RewriteTarget(target, &call, none); got != target {
			t.Errorf("target %q became %q", target, got)
		}
	})
}

func TestDiff(t *testing.T) {
	tests := []struct {
		name, was, now string
		want           []compare.Change
	}{
		{"equal", `{"a":1,"b":[1,2]}`, `{"b":[1.0,2],"a":1e0}`, nil},
		{"leaf", `{"a":{"b":"x"}}`, `{"a":{"b":"y"}}`, []compare.Change{{Pointer: "/a/b", Was: `"x"`, Now: `"y"`}}},
		{"kind", `{"a":"1"}`, `{"a":1}`, []compare.Change{{Pointer: "/a", Was: `"1"`, Now: `1`}}},
		{"members", `{"a":1,"b":2}`, `{"b":2,"c":3}`, []compare.Change{
			{Pointer: "/a", Was: "1"},
			{Pointer: "/c", Now: "3"},
		}},
		{"inserted", `[1,2,3]`, `[1,9,2,3]`, []compare.Change{{Pointer: "/1", Now: "9"}}},
		{"removed", `[{"a":1},{"a":2}]`, `[{"a":2}]`, []compare.Change{{Pointer: "/0", Was: `{"a":1}`}}},
		{
			"inside an element", `[{"a":1,"b":1},{"a":2}]`, `[{"a":1,"b":7},{"a":2}]`,
			[]compare.Change{{Pointer: "/0/b", Was: "1", Now: "7"}},
		},
		{"null and absent", `{"a":null}`, `{}`, []compare.Change{{Pointer: "/a", Was: "null"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := compare.Diff(a2a.Parse([]byte(test.was)).Root, a2a.Parse([]byte(test.now)).Root, nil)
			expect.Same(t, "", test.want, got)
		})
	}
}

// A text does not differ from itself, and differs from any unequal one; nothing panics.
func FuzzDiff(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":2}],"a":3}`), []byte(`{"a":[{"b":2},1]}`))
	f.Add([]byte(`[[],[[]],null,"x"]`), []byte(`[[[]],1e999,"\ud800"]`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		was, now := a2a.Parse(a).Root, a2a.Parse(b).Root
		if changes := compare.Diff(was, was, nil); len(changes) > 0 && len(a2a.Parse(a).Duplicates) == 0 {
			t.Errorf("%q differs from itself: %v", a, changes)
		}
		there, back := compare.Diff(was, now, nil), compare.Diff(now, was, nil)
		if (len(there) == 0) != (len(back) == 0) && len(a2a.Parse(a).Duplicates)+len(a2a.Parse(b).Duplicates) == 0 {
			t.Errorf("%q and %q differ one way only: %v, %v", a, b, there, back)
		}
	})
}
