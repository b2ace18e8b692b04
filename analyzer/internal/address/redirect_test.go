package address_test

import (
	"testing"

	"a2atap/analyzer/internal/address"
)

func TestRedirect(t *testing.T) {
	const agent, host = "http://127.0.0.1:24800", "127.0.0.1:24801"
	for _, test := range []struct {
		target, location, to string
		back                 bool
	}{
		{"/a2a", "/a2a/", "http://localhost:24800/a2a/", true},
		{"/a2a?x=1", "/a2a/?x=1", "http://localhost:24800/a2a/?x=1", true},
		{"/a2a/rpc", "v2", "http://localhost:24800/a2a/v2", true},
		{"/a2a", "?x=1", "http://localhost:24800/a2a?x=1", true},
		{"/a2a?x=1", "?y=//a", "http://localhost:24800/a2a?y=//a", true},
		{"/rpc", "/rpc//", "http://localhost:24800/rpc//", true},
		{"/rpc", "/rpc/?to=http://b/", "http://localhost:24800/rpc/?to=http://b/", true},
		{"/rpc", "rpc//#a", "http://localhost:24800/rpc//", true},
		{"/rpc", "http://127.0.0.1:24801/rpc//", "http://localhost:24800/rpc//", true},
		{"/rpc", "http:///rpc/", "", false},
		{"/a2a", "http://127.0.0.1:24801/a2a/", "http://localhost:24800/a2a/", true},
		{"/a2a", "http://localhost:24801/a2a/", "http://localhost:24800/a2a/", true},
		{"/a2a", "//127.0.0.1:24801/a2a/", "http://localhost:24800/a2a/", true},
		{"/a2a", "http://127.0.0.1:24800/a2a/", "http://localhost:24800/a2a/", false},
		{"/a2a", "https://elsewhere.example/a2a", "https://elsewhere.example/a2a", false},
		{"/a2a", "https://elsewhere.example", "https://elsewhere.example/", false},
		{"/a%2Fb", "/a%2Fb/", "http://localhost:24800/a%2Fb/", true},
		{"/a2a", "", "", false},
		{"/a2a", "http://[::1", "", false},
		{"/a2a", "mailto:a@b", "", false},
	} {
		to, back := address.Redirect(agent, test.target, host, test.location)
		if to != test.to || back != test.back {
			t.Errorf("%s led to %q: %q, %v; want %q, %v", test.target, test.location, to, back, test.to, test.back)
		}
	}
}
