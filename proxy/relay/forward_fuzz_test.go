package relay

import (
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
)

// FuzzParseTarget holds what we read in a target against what it is made of.
func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{
		"http://a/x?y", "https://[::1]:8443", "HTTP://A.B:", "http://u@a/", "http://a#b", "//a",
		"http://a:1:2/", "ftp://a/", "http://ä/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, authority, rest, err := ParseTarget(s)
		if err != nil {
			return
		}
		if !strings.HasSuffix(s, "://"+authority+rest) {
			t.Errorf("%q: authority %q and rest %q are not its end", s, authority, rest)
		}
		again, _, _, err := ParseTarget(target.String())
		if err != nil || again != target {
			t.Errorf("%q: %v is %v when read again, %v", s, target, again, err)
		}
		host, port, err := ParseAuthority(target.Authority())
		if err != nil || host != target.Host || port != target.Port {
			t.Errorf("%q: authority %q is %q, %q, %v", s, target.Authority(), host, port, err)
		}
	})
}

// FuzzForwardedHead holds a head as the agent sees it against the one that came.
func FuzzForwardedHead(f *testing.F) {
	for _, s := range []string{
		"GET http://a/x HTTP/1.1\r\nHost: a\r\nProxy-A: b\r\n\r\n",
		"\n\nPOST http://a HTTP/1.1\nHost: b\nContent-Length: 1\n\n",
		"OPTIONS https://[::1]:1?x HTTP/1.0\r\nproxy-: x\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost:\r\nProxy-Host: a\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost: a.\r\n\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var find headFinder
		n := find.find([]byte(s))
		got, target, err := forwarded(s[:n])
		if err != nil {
			return
		}
		was, now := scannedHead(t, s[:n]), scannedHead(t, got)
		if was.body != now.body || was.method != now.method || was.upgrade != now.upgrade {
			t.Errorf("%q: framing changed in %q", s[:n], got)
		}
		h := capture.ParseRequestHead([]byte(strings.TrimLeft(got, "\r\n")))
		if h.Target == "" || h.Target[0] != '/' && h.Target != "*" {
			t.Errorf("%q: target %q", s[:n], h.Target)
		}
		for _, field := range h.Fields {
			if strings.HasPrefix(strings.ToLower(field.Name), "proxy-") {
				t.Errorf("%q: field %s passes", s[:n], field.Name)
			}
		}
		if now.hasHost {
			host, port, err := splitAuthority(h.Fields.Get("Host"))
			if port == "" {
				port = defaultPorts[target.Scheme]
			}
			if err != nil || hostname.Normal(host) != hostname.Normal(target.Host) || port != target.Port {
				t.Errorf("%q: Host is %q, the target %v", s[:n], h.Fields.Get("Host"), target)
			}
		}
	})
}

func scannedHead(t *testing.T, head string) requestHead {
	t.Helper()
	h, err := scanRequest([]byte(head), DefaultHeadLimit)
	if err != nil {
		t.Fatalf("%q: %v", head, err)
	}
	return h
}
