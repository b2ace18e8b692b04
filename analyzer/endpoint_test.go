package analyzer

import "testing"

func TestUnreleased(t *testing.T) {
	tests := map[string]bool{
		"": false, "0.3": false, "1.0": false, "1.0.7": false, "1": false, "v1.0": false, "latest": false,
		"1.1": true, "2": true, "2.0": true, "v1.2": true, "99.0": true,
	}
	for version, want := range tests {
		if got := unreleased(version); got != want {
			t.Errorf("unreleased(%q) = %v, want %v", version, got, want)
		}
	}
}
