package version

import (
	"fmt"
	"testing"

	"a2atap/proxy/expect"
)

func TestOtherVersion(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"https://e.example/x/v1", "https://e.example/x/v2", true},
		{"https://e.example/x/v1", "https://e.example/x/2", true},
		{"https://e.example/x/1", "https://e.example/x/2", true},
		{"https://e.example/x/v1beta1", "https://e.example/x/v1", true},
		{"https://e.example/x-v1", "https://e.example/x-v2", true},
		{"https://e.example/x_v1.json", "https://e.example/x_v2.json", true},
		{"https://e.example/1.0/x/spec", "https://e.example/1.1/x/spec", true},
		{"https://e.example/x/2026-03-01", "https://e.example/x/2025-12-31", true},
		{"https://e.example/x?version=1", "https://e.example/x?version=2", true},
		{"https://e.example/x#v1", "https://e.example/x#v2", true},
		{"urn:x:foo:1.0", "urn:x:foo:1.1", true},
		{"https://e.example/x", "https://e.example/x/v2", true},
		{"https://e.example/x/v2/", "https://e.example/x", true},
		{"https://e.example/x-v2", "https://e.example/x", true},

		{"https://e.example/x/v1", "https://e.example/x/v1", false},
		{"https://e.example/x/v1/", "https://e.example/x/v1", false},
		{"https://e.example/x", "https://e.example/x/2", false},
		{"https://e.example/x/v1", "https://e.example/y/v2", false},
		{"https://e.example/mp3/v1", "https://e.example/mp4/v1", false},
		{"https://e.example/x/1001", "https://e.example/x/1002", false},
		{"https://e.example/model-4", "https://e.example/model-5", false},
		{"http://e.example/x/v1", "https://e.example/x/v2", false},
		{"https://10.0.0.1/x", "https://10.0.0.2/x", false},
		{"https://e.example", "https://e.example/v1", true},
		{"", "v1", true},
	}
	for _, test := range tests {
		for _, pair := range [...][2]string{{test.a, test.b}, {test.b, test.a}} {
			expect.Equal(t, fmt.Sprintf("%q and %q", pair[0], pair[1]), test.want, otherVersion(pair[0], pair[1]))
		}
	}
}
