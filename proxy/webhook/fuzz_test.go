package webhook

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/must"
)

// Of a request only the URLs of webhooks change, it stays the JSON that it was, and put back they are what they were.
func FuzzReplace(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"url":"http://127.0.0.1:1/h"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{},"configuration":` +
			`{"pushNotificationConfig":{"url":"http:\/\/localhost:9\/\u00e9","url":"http://[::1]"}}}}]`,
		`{"method":"tasks/send","params":{"pushNotification":{"config":{"config":{"config":{"url":"x"}}}}}}`,
		`{"pushNotificationConfig":{"url":"http://127.0.0.1:1"}}`, "\ufeff{}", `{"method":"x"`, `[[]]`,
	} {
		f.Add([]byte(seed))
	}
	tap := testHooks().NewSite("booker", &url.URL{Scheme: "http", Host: "127.0.0.1:9001"}, "127.0.0.1:7001")
	head := capture.ParseRequestHead([]byte("POST /v1/tasks/t/pushNotificationConfigs HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var replacements []card.Replacement
		last := 0
		for _, u := range configURLs(&head, body) {
			if u.Start < last || u.End > len(body) {
				t.Fatalf("token at %d to %d, after one that ends at %d", u.Start, u.End, last)
			}
			last = u.End
			if to, _, _ := tap.replace(u.Text, "planner"); to != "" {
				replacements = append(replacements, card.Replacement{URL: u, By: to})
			}
		}
		diverted := card.Apply(body, replacements)
		if json.Valid(body) && !json.Valid(diverted) {
			t.Fatalf("%q became %q", body, diverted)
		}
		back, changed := testSeals.restored(diverted)
		if len(replacements) > 0 && !changed {
			t.Fatalf("nothing is put back in %q", diverted)
		}
		if json.Valid(body) && !sameJSON(body, back) {
			t.Fatalf("%q came back as %q", body, back)
		}
	})
}

// sameJSON reports whether two texts are the same JSON, as far as the standard library tells.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// However a text is cut, the same addresses are found in it; a text without any passes as it is.
func FuzzRestorer(f *testing.F) {
	address := "http://127.0.0.1:7001" + hookPrefix + testSeals.seal(hook{"a", "b", "http://h/x"})
	f.Add("{\"url\":\""+address+"\"}", 10)
	f.Add("httphttp://https:\\/\\/x.a2atap", 3)
	f.Add(address+address, len(address))
	f.Add("\""+strings.Replace(address, "//", "/", 1)+"\"", 40) // not a URL, whatever follows it
	f.Fuzz(func(t *testing.T, text string, at int) {
		whole := restoreIn(text, "")
		if at < 0 || at > len(text) {
			at = 0
		}
		if got := restoreIn(text[:at], text[at:]); got != whole {
			t.Fatalf("cut at %d it becomes %q, else %q", at, got, whole)
		}
		if !strings.Contains(text, ".a2atap") && whole != text {
			t.Fatalf("%q became %q", text, whole)
		}
	})
}

// However messages are cut, the results are the same; without one of the tap's addresses, they are the same byte for
// byte.
func FuzzFrameRestorer(f *testing.F) {
	method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/ListTaskPushNotificationConfigs")
	address := "http://127.0.0.1:7001" + hookPrefix + testSeals.seal(hook{"a", "b", "http://h/x"})
	message := must.Get(method.Answer.FromJSON(a2a.Parse([]byte(`{"configs":[{"id":"a","url":"` + address + `"}]}`)).Root))(f)
	f.Add(grpc.AppendFrame(grpc.AppendFrame(nil, message), nil), 7)
	f.Add([]byte("\x00\x00\x00\x00\x09"+address), 3)
	f.Add([]byte("\x01\xff\x00\x00\x00abc"), 4)
	f.Fuzz(func(t *testing.T, body []byte, at int) {
		restore := func(pieces ...[]byte) string {
			r := &frameRestorer{seals: testSeals, of: method.Answer}
			var out []byte
			for _, p := range pieces {
				out = append(out, r.Next(p, false)...)
			}
			return string(append(out, r.Next(nil, true)...))
		}
		whole := restore(body)
		if at < 0 || at > len(body) {
			at = 0
		}
		if got := restore(body[:at], body[at:]); got != whole {
			t.Fatalf("cut at %d it becomes %q, else %q", at, got, whole)
		}
		if !isAddress(body) && whole != string(body) {
			t.Fatalf("%q became %q", body, whole)
		}
	})
}
