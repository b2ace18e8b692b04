package proxy

import (
	"encoding/json"
	"net"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
)

// Of a request only the URLs of webhooks change, it stays the JSON that it was, and put back they are what they were.
func FuzzDivert(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"url":"http://127.0.0.1:1/h"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{},"configuration":` +
			`{"pushNotificationConfig":{"url":"http:\/\/localhost:9\/\u00e9","url":"http://[::1]"}}}}]`,
		`{"method":"tasks/send","params":{"pushNotification":{"config":{"config":{"config":{"url":"x"}}}}}}`,
		`{"pushNotificationConfig":{"url":"http://127.0.0.1:1"}}`, "\ufeff{}", `{"method":"x"`, `[[]]`,
	} {
		f.Add([]byte(seed))
	}
	tap := &Tap{proxy: &Proxy{opts: Options{Webhooks: &WebhookSpec{}}, seals: testSeals}}
	tap.spec.Name, tap.spec.Agent = "booker", &url.URL{Scheme: "http", Host: "127.0.0.1:9001"}
	tap.agent, tap.addr = hostname.OriginOf(tap.spec.Agent), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7001}
	head := capture.ParseRequestHead([]byte("POST /v1/tasks/t/pushNotificationConfigs HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var replacements []replacement
		last := 0
		for _, u := range configURLs(&head, body) {
			if u.start < last || u.end > len(body) {
				t.Fatalf("token at %d to %d, after one that ends at %d", u.start, u.end, last)
			}
			last = u.end
			if to, _, _ := tap.divert(u.url, "planner"); to != "" {
				replacements = append(replacements, replacement{u, to})
			}
		}
		diverted := applyReplacements(body, replacements)
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
	f.Add("\""+strings.Replace(address, "//", "/", 1)+"\"", 40) // no URL, whatever stands behind
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
