package forward

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

func TestParseListen(t *testing.T) {
	for flag, want := range map[string]string{
		"7080": "127.0.0.1:7080", "0": "127.0.0.1:0",
		"localhost:1": "localhost:1", "[::1]:2": "[::1]:2", "0.0.0.0:3": "0.0.0.0:3",
	} {
		expect.Equal(t, flag, want, must.Get(ParseListen(flag))(t))
	}
	for _, flag := range []string{"", "x", ":1", "a:", "65536", "-1", "01", "::1", "http://a:1"} {
		if got, err := ParseListen(flag); err == nil || !strings.HasPrefix(err.Error(), "--forward ") {
			t.Errorf("%q: got %s, %v", flag, got, err)
		}
	}
}

func TestParseCredentials(t *testing.T) {
	for _, flag := range []string{"", "a", "a:", ":b"} {
		expect.ErrorHas(t, flag, "USER:PASS", expect.Err(ParseCredentials(flag)))
	}
}

// FuzzConnectHead gives foreign bytes to all that looks at the beginning of a connection to the forward proxy.
func FuzzConnectHead(f *testing.F) {
	for _, s := range []string{
		"CONNECT a:1 HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic cDo=\r\n\r\n\x16", "\n\n",
		"PRI * HTTP/2.0\r\n\r\n", "GET / ", "\x16\x03\x01",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := headEnd(b)
		if end < 0 || end > len(b) || end > 0 && b[end-1] != '\n' {
			t.Fatalf("the head of %q ends at %d", b, end)
		}
		if user := proxyUser(b[:end]); user != "" && !recording.ValidName(user) {
			t.Errorf("user %q", user)
		}
		// What is certain stays what it is when more comes.
		var last protocol
		decided := false
		for n := 1; n <= len(b); n++ {
			c := connect{peekedConn: &peekedConn{peeked: b[:n]}}
			kind, certain := c.detectProtocol()
			if decided && (!certain || kind != last) {
				t.Fatalf("%q: %d after %d at byte %d", b, kind, last, n)
			}
			last, decided = kind, certain
		}
	})
}
