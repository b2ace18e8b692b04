package proxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Valid JSON stays valid, and nothing but the tokens of URLs changes.
func FuzzApplyReplacements(f *testing.F) {
	for _, seed := range []string{
		`{"url":"http://a:1/x","additionalInterfaces":[{"url":"http:\/\/b","transport":"GRPC"}],` +
			`"supportedInterfaces":[{"url":"\u0068ttp://c/é"}]}`,
		`{"result":{"url":"https://u:p@[::1]:9/?q#f"},"url":"x"}`, "\ufeff{\"url\":\"\xff\"}", `{"url":""}`, `[]`,
		`{"url":"a://b","url":"c://d"}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, doc []byte, rpc bool) {
		urls, _, ok := cardURLs(doc, rpc)
		if !ok && urls != nil {
			t.Fatal("URLs of what is no card")
		}
		var splices []replacement
		rest := bytes.Clone(doc)
		for i := len(urls) - 1; i >= 0; i-- {
			u := urls[i]
			rest = append(rest[:u.start:u.start], rest[u.end:]...)
			splices = append([]replacement{{u, replaceOrigin(u.url, "127.0.0.1:7001")}}, splices...)
		}
		out := applyReplacements(doc, splices)
		if len(urls) == 0 {
			if !bytes.Equal(out, doc) {
				t.Fatal("changed without a reason")
			}
			return
		}
		if a2a.Parse(out).Err != nil {
			t.Fatalf("no JSON any more: %q", out)
		}
		after, _, _ := cardURLs(out, rpc)
		if len(after) != len(urls) {
			t.Fatalf("%d URLs, then %d", len(urls), len(after))
		}
		for i := len(after) - 1; i >= 0; i-- {
			u := after[i]
			if u.url != splices[i].text || u.pointer != urls[i].pointer || u.transport != urls[i].transport {
				t.Fatalf("URL %d: got %+v, want %q", i, u, splices[i].text)
			}
			out = append(out[:u.start:u.start], out[u.end:]...)
		}
		if !bytes.Equal(out, rest) {
			t.Fatalf("outside the tokens: got %q, want %q", out, rest)
		}
	})
}

// A head that is edited keeps all other lines, and a reader finds in it what was set.
func FuzzEditHead(f *testing.F) {
	f.Add("GET / HTTP/1.1\r\nHost: a\r\naccept-encoding: gzip\r\n\r\n", "Accept-Encoding", "identity")
	f.Add("GET / HTTP/1.1\nRange:x\nRange: y\n\n", "range", "z")
	f.Add("\r\n\r\nGET / HTTP/1.1\r\nA: \r\n\r\n", "A", "b")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, raw, name, value string) {
		same := editHead([]byte(raw))
		same.each(name, func(was string) (string, bool) { return was, true })
		if got := string(same.bytes()); got != raw {
			t.Fatalf("got %q, want %q", got, raw)
		}
		head, err := http.ReadRequest(newReader(raw))
		if err != nil || !isPlainToken(name) || strings.ContainsAny(value, "\r\n\x00") ||
			strings.TrimSpace(value) != value || http.CanonicalHeaderKey(name) == "Host" ||
			strings.HasPrefix(raw, "\r") || strings.HasPrefix(raw, "\n") ||
			strings.Contains(raw, "\n ") || strings.Contains(raw, "\n\t") { // the relay refuses folded lines
			return
		}
		edit := editHead([]byte(raw))
		edit.set(name, value)
		edited, err := http.ReadRequest(newReader(string(edit.bytes())))
		if err != nil {
			return // a value that means something, such as a length
		}
		if got := edited.Header.Values(name); len(got) != 1 || got[0] != value {
			if len(got) > 0 || edited.Header == nil {
				t.Fatalf("got %q, want %q", got, value)
			}
		}
		head.Header.Del(name)
		edited.Header.Del(name)
		if !reflect.DeepEqual(head.Header, edited.Header) {
			t.Fatalf("got %v, want %v", edited.Header, head.Header)
		}
	})
}

// Requests of the network decide nothing but whether they may ask for a card.
func FuzzCardRequest(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`, `{"method":"tasks/get"}`,
		`[`, `{"method":{"xtended":1}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q := &cardRequest{body: body, bodyKnown: make(chan struct{})}
		q.end()
		if !q.callsForCard() {
			return
		}
		var call struct{ Method string }
		if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &call); err == nil &&
			!strings.Contains(call.Method, "xtended") {
			t.Fatalf("%q calls for a card", body)
		}
	})
}

func newReader(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) }

func isPlainToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return !isToken(c) }) < 0
}

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
	tap.agent, tap.addr = originOf(tap.spec.Agent), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7001}
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
