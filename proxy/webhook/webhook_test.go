package webhook

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
	"a2atap/proxy/must"
)

// testHooks lead webhooks through a tap at 127.0.0.1:7001.
func testHooks() *Hooks {
	at := hostname.NewOrigin("127.0.0.1", "7001")
	return &Hooks{Options: Options{Tapped: func(o hostname.Origin) bool { return o == at }}, seals: testSeals}
}

var testSeals, _ = newSealer([]byte("0123456789abcdef0123456789abcdef"))

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	return must.Get(url.Parse(s))(t)
}

// An agent elsewhere is given no address of this machine, unless the user names one that it reaches.
func TestHookBase(t *testing.T) {
	tests := []struct{ agent, hook, through, want, why string }{
		{"http://127.0.0.1:9001", "http://localhost:9100/h", "", "http://127.0.0.1:7001", ""},
		{"http://[::1]:9001", "http://[::1]:9100", "", "http://127.0.0.1:7001", ""},
		{"https://localhost:9001", "http://127.0.0.5:9100/", "", "http://127.0.0.1:7001", ""},
		{"http://agent.example", "http://127.0.0.1:9100/", "", "", "the agent is not on this machine; set --webhook-url"},
		{"http://agent.example", "https://h.example/", "https://t.example", "https://t.example", ""},
		{"http://127.0.0.1:9001", "http://h.example/", "", "", "the webhook is not on this machine"},
		{"http://127.0.0.1:9001", "https://127.0.0.1/", "", "", "the webhook is not on plain HTTP"},
		{"http://127.0.0.1:9001", "http://localhost:9001/h", "", "", "the webhook is the agent itself"},
		{"http://127.0.0.1:9001", "http://localhost:7001/h", "", "", ""},
	}
	for _, test := range tests {
		hooks := testHooks()
		if test.through != "" {
			hooks.URL = mustParse(t, test.through)
		}
		tap := hooks.NewSite("booker", mustParse(t, test.agent), "127.0.0.1:7001")
		base, why := tap.hookBase(mustParse(t, test.hook))
		if base != test.want || !strings.Contains(why, test.why) || (why == "") != (test.why == "") {
			t.Errorf("%s for %s: got %q and %q, want %q and %q", test.hook, test.agent, base, why, test.want, test.why)
		}
	}
}

// Sealed text can be read with the key, sealing always gives the same result, and nothing else can be opened.
func TestSealer(t *testing.T) {
	h := hook{"booker", "planner", "https://u:p@h.example/x?token=secret#f"}
	token := testSeals.seal(h)
	again, _ := newSealer([]byte("0123456789abcdef0123456789abcdef"))
	if got, ok := again.open(token); !ok || got != h || again.seal(h) != token {
		t.Errorf("got %+v, %v", got, ok)
	}
	if strings.Contains(token, "secret") || strings.Trim(token,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		t.Errorf("the token is %s", token)
	}
	other, _ := newSealer([]byte("another key that is as long as it"))
	if _, ok := other.open(token); ok {
		t.Error("another key opens it")
	}
	for i := range token {
		altered := []byte(token)
		if altered[i]++; altered[i] == token[i] {
			continue
		}
		if _, ok := testSeals.open(string(altered)); ok {
			t.Errorf("altered at %d it opens", i)
		}
	}
	for _, bad := range []string{"", "x", token[:20], token + "AA", "=="} {
		if _, ok := testSeals.open(bad); ok {
			t.Errorf("%q opens", bad)
		}
	}
}

// A notification goes where the client has said, with what the agent has added to the query.
func TestDeliverTo(t *testing.T) {
	tests := []struct{ hook, added, to, authority, target string }{
		{"http://127.0.0.1:9100", "", "http://127.0.0.1:9100", "127.0.0.1:9100", "/"},
		{"http://LocalHost/h", "?validationToken=v", "http://localhost", "LocalHost", "/h?validationToken=v"},
		{"https://u:p@h.example:8443/h?a=b#f", "?c=d&e", "https://h.example:8443", "h.example:8443", "/h?a=b&c=d&e"},
		{"https://h.example?a@b", "?c", "https://h.example", "h.example", "/?a@b&c"},
	}
	for _, test := range tests {
		d, err := testSeals.deliver(hookPrefix + testSeals.seal(hook{"booker", "", test.hook}) + test.added)
		if err != nil || d.to.String() != test.to || d.authority != test.authority || d.target != test.target {
			t.Errorf("%s: got %s, %s, %s, %v", test.hook, d.to, d.authority, d.target, err)
		}
	}
	for _, bad := range []string{"", "x", "x?y", testSeals.seal(hook{"b", "", "http://h"}) + "/more"} {
		expect.Error(t, fmt.Sprintf("%q is delivered", bad), expect.Err(testSeals.deliver(hookPrefix+bad)))
	}
}

// restoreIn puts the URLs back in a text that comes in two pieces.
func restoreIn(first, second string) string {
	r := &restorer{seals: testSeals}
	out := string(r.Next([]byte(first), false))
	out += string(r.Next([]byte(second), false))
	return out + string(r.Next(nil, true))
}

// The tap's addresses become URLs again, however the text is cut; similar text stays.
func TestRestorer(t *testing.T) {
	const own = "http://127.0.0.1:9100/h?x=1"
	address := "http://127.0.0.1:7001" + hookPrefix + testSeals.seal(hook{"booker", "planner", own})
	escaped := strings.ReplaceAll(address, "/", `\/`)
	for text, want := range map[string]string{
		`{"url":"` + address + `","a":1}`:              `{"url":"` + own + `","a":1}`,
		`{"url":"` + escaped + `"}`:                    `{"url":"` + strings.ReplaceAll(own, "/", `\/`) + `"}`,
		`data: {"url":"` + address + `"}` + "\n\n":     `data: {"url":"` + own + `"}` + "\n\n",
		`["see ` + address + `, ` + address + `?v=1"]`: `["see ` + own + `, ` + own + `?v=1"]`,
		`https://h.example` + address[21:]:             own,
		`http://http://u:p@` + address[7:]:             `http://` + own,
		`{"url":"` + address + `x"}`:                   `{"url":"` + address + `x"}`,
		`{"url":"` + address[:len(address)-1] + `"}`:   `{"url":"` + address[:len(address)-1] + `"}`,
		`"http://127.0.0.1:7001` + hookPrefix + `"`:    `"http://127.0.0.1:7001` + hookPrefix + `"`,
		`hhttp http: http:/ https://x h`:               `hhttp http: http:/ https://x h`,
		`http://` + strings.Repeat("x", 2*maxAddress):  `http://` + strings.Repeat("x", 2*maxAddress),
		address: own,
		``:      ``,
	} {
		for i := range len(text) + 1 {
			if len(text) > maxAddress && i%997 != 0 {
				continue
			}
			if got := restoreIn(text[:i], text[i:]); got != want {
				t.Fatalf("%q cut at %d becomes %q, want %q", text, i, got, want)
			}
		}
	}
}

// Text that is not one of the tap's addresses is not held back at the end of an event.
func TestRestorerKeepsNothingBack(t *testing.T) {
	r := &restorer{seals: testSeals}
	const event = "data: {\"url\":\"http://127.0.0.1:9100/h\"}\n\n"
	expect.Equal(t, "passed on", event, string(r.Next([]byte(event), false)))
}
