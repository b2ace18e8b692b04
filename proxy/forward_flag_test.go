package proxy

import (
	"strings"
	"testing"

	"a2atap/proxy/relay"
)

func TestParseForward(t *testing.T) {
	for flag, want := range map[string]string{
		"7080": "127.0.0.1:7080", "0": "127.0.0.1:0",
		"localhost:1": "localhost:1", "[::1]:2": "[::1]:2", "0.0.0.0:3": "0.0.0.0:3",
	} {
		if got, err := ParseForward(flag); got != want || err != nil {
			t.Errorf("%s: got %s, %v", flag, got, err)
		}
	}
	for _, flag := range []string{"", "x", ":1", "a:", "65536", "-1", "01", "::1", "http://a:1"} {
		if got, err := ParseForward(flag); err == nil || !strings.HasPrefix(err.Error(), "--forward ") {
			t.Errorf("%q: got %s, %v", flag, got, err)
		}
	}
}

func TestHostPattern(t *testing.T) {
	target := func(authority string) relay.Target {
		t.Helper()
		host, port, err := relay.ParseAuthority(authority)
		if err != nil {
			t.Fatal(err)
		}
		return relay.Target{Scheme: "https", Host: host, Port: port}
	}
	tests := map[string]struct{ yes, no []string }{
		"A.example":       {[]string{"a.example:443", "a.example.:1"}, []string{"b.a.example:443", "xa.example:443"}},
		"a.example:8443":  {[]string{"a.example:8443"}, []string{"a.example:443"}},
		"*.example":       {[]string{"a.example:443", "b.a.example:1"}, []string{"example:443", "aexample:443"}},
		"*.example:0443":  {[]string{"a.example:443"}, []string{"a.example:444"}},
		"*":               {[]string{"a:1", "[::1]:2"}, nil},
		"*:443":           {[]string{"a:443"}, []string{"a:1"}},
		"::1":             {[]string{"[::1]:1"}, []string{"[::2]:1"}},
		"[::1]":           {[]string{"[::1]:1"}, nil},
		"[0:0::1]:443":    {[]string{"[::1]:443"}, []string{"[::1]:1"}},
		"127.0.0.1":       {[]string{"127.0.0.1:9"}, []string{"127.0.0.2:9"}},
		"a_b-c.example:1": {[]string{"a_b-c.example:1"}, nil},
	}
	for flag, test := range tests {
		pattern, err := ParseHostPattern(flag)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, s := range test.yes {
			if !pattern.matches(target(s)) {
				t.Errorf("%s does not match %s", flag, s)
			}
		}
		for _, s := range test.no {
			if pattern.matches(target(s)) {
				t.Errorf("%s matches %s", flag, s)
			}
		}
	}
	for _, flag := range []string{
		"", "a b", "a:", "a:0", "a:x", "http://a", "a/b", "a*", "*a", "*.", "**", "*.*.a",
		"[a]", "[::1", "a:1:2", "*:",
	} {
		if pattern, err := ParseHostPattern(flag); err == nil || !strings.HasPrefix(err.Error(), "--tunnel ") {
			t.Errorf("%q: got %+v, %v", flag, pattern, err)
		}
	}
}

func TestParseCredentials(t *testing.T) {
	for _, flag := range []string{"", "a", "a:", ":b"} {
		if _, err := ParseCredentials(flag); err == nil || !strings.Contains(err.Error(), "USER:PASS") {
			t.Errorf("%q: got %v", flag, err)
		}
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
		if user := proxyUser(b[:end]); user != "" && !validName(user) {
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

// FuzzHostPattern matches patterns of any sort with hosts of any sort.
func FuzzHostPattern(f *testing.F) {
	f.Add("*.example:1", "a.example:1")
	f.Add("[::1]", "[::1]:443")
	f.Add("0", ".:1")
	f.Add("a.example.", "a.example:1")
	f.Fuzz(func(t *testing.T, flag, authority string) {
		pattern, err := ParseHostPattern(flag)
		host, port, bad := relay.ParseAuthority(authority)
		if err != nil || bad != nil {
			return
		}
		to := relay.Target{Scheme: "https", Host: host, Port: port}
		if exact, err := ParseHostPattern(to.Authority()); err != nil || !exact.matches(to) {
			t.Errorf("%s does not match itself: %v", authority, err)
		}
		if all := (HostPattern{host: "*"}); pattern.matches(to) && !all.matches(to) {
			t.Errorf("%s matches %s, * does not", flag, authority)
		}
	})
}
