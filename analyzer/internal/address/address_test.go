package address_test

import (
	"fmt"
	"testing"

	"a2atap/analyzer/internal/address"
	"a2atap/proxy/expect"
)

func TestAddress(t *testing.T) {
	tests := map[string]string{
		"http://Booker:9001/RPC/":         "http://booker:9001/RPC",
		"HTTP://booker/":                  "http://booker",
		"http://booker:80/a":              "http://booker/a",
		"https://booker:443":              "https://booker",
		"https://booker:80/a":             "https://booker:80/a",
		"http://127.0.0.1:9001/":          "http://localhost:9001",
		"http://[::1]:9001/rpc":           "http://localhost:9001/rpc",
		"http://0.0.0.0/rpc":              "http://localhost/rpc",
		"http://[2001:db8::1]/rpc":        "http://[2001:db8::1]/rpc",
		"http://[2001:db8::1]:80/rpc":     "http://[2001:db8::1]/rpc",
		"http://booker:9001/hook?a=b#c":   "http://booker:9001/hook",
		"http://booker:9001?a=/b":         "http://booker:9001",
		"http://[::ffff:127.0.0.1]:9001":  "http://localhost:9001",
		"http://booker.:9001/rpc":         "http://booker:9001/rpc",
		"http://BÜCHER.example/rpc":       "http://xn--bcher-kva.example/rpc",
		"http://[FE80::1%25eth0]/rpc":     "http://[fe80::1%25eth0]/rpc",
		"http://a:b:c/rpc":                "http://[a:b]:c/rpc",
		"http://[a:b]/rpc":                "http://[a:b]/rpc",
		"booker:50051":                    "booker:50051",
		"":                                "",
		"http://":                         "http://",
		"http://localhost:9001/a/b?x=1/2": "http://localhost:9001/a/b",
	}
	for raw, want := range tests {
		expect.Equal(t, fmt.Sprintf("Of(%q)", raw), want, address.Of(raw))
		if again := address.Of(address.Of(raw)); again != address.Of(raw) {
			t.Errorf("address of %q changes when it is made again: %q", address.Of(raw), again)
		}
	}
}

func TestTarget(t *testing.T) {
	tests := []struct{ agent, target, origin, path string }{
		{"http://booker:9001/a2a", "/rpc?x=1", "http://booker:9001", "/rpc"},
		{"", "http://hotel:9002/rpc?x=1", "http://hotel:9002", "/rpc"},
		{"http://booker:9001", "http://hotel:9002", "http://hotel:9002", "/"},
		{"http://booker:9001", "/go?to=http://elsewhere/", "http://booker:9001", "/go"},
		{"http://booker:9001", "*", "http://booker:9001", "*"},
		{"", "/rpc", "", "/rpc"},
		{"http://booker:9001", "/a%2Fb", "http://booker:9001", "/a%2Fb"},
	}
	for _, test := range tests {
		origin, path := address.Target(test.agent, test.target)
		if origin != test.origin || path != test.path {
			t.Errorf("Target(%q, %q) = %q, %q; want %q, %q", test.agent, test.target, origin, path, test.origin, test.path)
		}
	}
}

func TestServer(t *testing.T) {
	for raw, want := range map[string]string{
		"http://127.0.0.1:9362":     "localhost:9362",
		"https://localhost:9362/a":  "localhost:9362",
		"http://[::1]:9362":         "localhost:9362",
		"http://[2001:db8::1]:9362": "[2001:db8::1]:9362",
		"http://[2001:db8::1]/rpc":  "http://[2001:db8::1]",
		"https://Booker":            "https://booker",
		"https://booker:443/rpc":    "https://booker",
		"":                          "",
	} {
		expect.Equal(t, raw, want, address.Server(raw))
	}
}
