package spelling

import (
	"strings"
	"testing"
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
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%.20q to %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("%q to %.20q: got %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
