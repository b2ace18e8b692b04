package hostname

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestHostPattern(t *testing.T) {
	matches := func(p Pattern, authority string) bool {
		t.Helper()
		host, port, ok := Split(authority)
		if !ok {
			t.Fatalf("%s is no host", authority)
		}
		return p.Matches(host, port)
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
		"a.example.":      {[]string{"a.example:1", "A.Example.:2"}, nil},
		"*.EXAMPLE.":      {[]string{"a.example:1"}, []string{"example:1"}},
		"bücher.example":  {[]string{"xn--bcher-kva.example:1", "XN--bcher-KVA.example.:1"}, []string{"bcher.example:1"}},
		"*.bücher.test":   {[]string{"a.xn--bcher-kva.test:1"}, nil},
		"::ffff:1.2.3.4":  {[]string{"1.2.3.4:1"}, nil},
		"1.2.3.4":         {[]string{"[::ffff:102:304]:1"}, nil},
	}
	for flag, test := range tests {
		pattern, err := ParsePattern(flag)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, s := range test.yes {
			if !matches(pattern, s) {
				t.Errorf("%s does not match %s", flag, s)
			}
		}
		for _, s := range test.no {
			if matches(pattern, s) {
				t.Errorf("%s matches %s", flag, s)
			}
		}
	}
	for _, flag := range []string{
		"", "a b", "a:", "a:0", "a:x", "http://a", "a/b", "a*", "*a", "*.", "**", "*.*.a",
		"[a]", "[::1", "a:1:2", "*:",
	} {
		if pattern, err := ParsePattern(flag); err == nil || !strings.HasPrefix(err.Error(), "--tunnel ") {
			t.Errorf("%q: got %+v, %v", flag, pattern, err)
		}
	}
}

func TestParseAllowedHost(t *testing.T) {
	for flag, want := range map[string]Pattern{
		"Tap.Example.": {host: "tap.example"}, "*.example": {host: ".example"}, "tap:7001": {host: "tap", port: "7001"},
		"192.0.2.1": {host: "192.0.2.1"}, "2001:DB8::1": {host: "2001:db8::1"},
	} {
		expect.Equal(t, flag, want, must.Get(ParseAllowed(flag))(t))
	}
	for flag, why := range map[string]string{
		"": "is not a host", "http://a": "is not a host", "a b": "is not a host", "*.": "is not a host", "*": "every web page", "*:80": "every web page",
	} {
		expect.ErrorHas(t, flag, why, expect.Err(ParseAllowed(flag)))
	}
}

// FuzzHostPattern matches patterns of any sort with hosts of any sort.
func FuzzHostPattern(f *testing.F) {
	f.Add("*.example:1", "a.example:1")
	f.Add("[::1]", "[::1]:443")
	f.Add("0", ".:1")
	f.Add("a.example.", "a.example:1")
	f.Add("*", "a*b.example:1")
	f.Fuzz(func(t *testing.T, flag, authority string) {
		pattern, err := ParsePattern(flag)
		host, port, ok := Split(authority)
		if err != nil || !ok || strings.Contains(host, "*") { // in a pattern it matches other hosts
			return
		}
		if exact, err := ParsePattern(Join(host, port)); err != nil || !exact.Matches(host, port) {
			t.Errorf("%s does not match itself: %v", authority, err)
		}
		if all := (Pattern{host: "*"}); pattern.Matches(host, port) && !all.Matches(host, port) {
			t.Errorf("%s matches %s, * does not", flag, authority)
		}
	})
}
