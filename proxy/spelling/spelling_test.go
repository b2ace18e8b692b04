package spelling

import (
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "ab", 2},
		{"GetTask", "GetTask", 0},
		{"SendMesage", "SendMessage", 1},
		{"GetTsak", "GetTask", 2},
		{"tasks/got", "tasks/get", 1},
		{"kitten", "sitting", 3},
		{strings.Repeat("a", 1<<20), "", maxWord},
	} {
		expect.Equal(t, tt.a+" to "+tt.b, tt.want, Distance(tt.a, tt.b))
		expect.Equal(t, tt.b+" to "+tt.a, tt.want, Distance(tt.b, tt.a))
	}
}

func TestNear(t *testing.T) {
	known := []string{"check", "ca", "show", "stream-close-isolated", "stream-closed-on-terminal", "playback", "replay"}
	for _, tt := range []struct {
		word string
		want []string
	}{
		{"chek", []string{"check"}},
		{"CHECK", []string{"check"}},
		{"play", []string{"playback", "replay"}},
		{"stream-close", []string{"stream-close-isolated", "stream-closed-on-terminal"}},
		{"stream-closed-on-termnal", []string{"stream-closed-on-terminal", "stream-close-isolated"}},
		{"stream-closd", []string{"stream-close-isolated", "stream-closed-on-terminal"}},
		{"isolated", []string{"stream-close-isolated"}},
		{"c", nil},
		{"foo", nil},
		{"", nil},
	} {
		if got := Near(tt.word, known, 3); !slices.Equal(got, tt.want) {
			t.Errorf("near %q: got %q, want %q", tt.word, got, tt.want)
		}
	}
	if got := Near("stream", known, 1); len(got) != 1 {
		t.Errorf("one word was wanted, got %q", got)
	}
}
