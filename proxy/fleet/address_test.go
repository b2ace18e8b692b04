package fleet

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]Address{
		"nats://127.0.0.1:4333/traffic":        {server: "nats://127.0.0.1:4333", stream: "traffic"},
		"nats://host.example/a-b_c/":           {server: "nats://host.example:4222", stream: "a-b_c"},
		"tls://[::1]/x":                        {server: "tls://[::1]:4222", stream: "x"},
		"nats://me:pa%2Fss@host.example/t":     {server: "nats://host.example:4222", stream: "t", user: "me", password: "pa/ss"},
		"nats://tok-en@host.example:4222/t":    {server: "nats://host.example:4222", stream: "t", password: "tok-en"},
		"nats://me:@host.example:4222/traffic": {server: "nats://host.example:4222", stream: "traffic", user: "me"},
	} {
		got, err := ParseAddress(text)
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
		expect.Equal(t, text+": credentials", strings.Contains(text, "@"), got.HasCredentials())
		if !IsAddress(text) || strings.ContainsAny(got.String(), "@") {
			t.Errorf("%s is %s", text, got)
		}
	}
	for _, text := range []string{
		"http://secret@h/t", "nats://secret@/t", "nats://secret@h", "nats://secret@h/a.b", "nats://secret@h/a/b",
		"nats://user:12/secret@h/t", "nats://secret@h:1,i:2/t", "nats://secret@h,i/t", "nats://secret@h/t?x=1", "nats://secret@h:port/t", "nats://secret@h/%zz",
	} {
		if a, err := ParseAddress(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s is %+v, %v", text, a, err)
		}
	}
}
