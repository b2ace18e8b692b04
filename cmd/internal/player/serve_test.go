package player

import (
	"net/url"
	"testing"
)

func TestPlaybackForwardsToNoPlayback(t *testing.T) {
	tests := []struct {
		forward string
		loop    bool
	}{
		{"http://127.0.0.1:9001/spec", true},
		{"http://localhost:9002", true},
		{"http://[::1]:9001", true},
		{"http://127.0.0.1:9003", false},
		{"https://agents.example:9001", false},
		{"http://127.0.0.1", false},
	}
	for _, test := range tests {
		u, err := url.Parse(test.forward)
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{roles: []*role{{url: "http://127.0.0.1:9001/spec", forward: u}}}
		err = s.loops(func(int) string { return "http://127.0.0.1:9002/spec" })
		if (err != nil) != test.loop {
			t.Errorf("%s: %v; want an error: %t", test.forward, err, test.loop)
		}
	}
}
