package compare

import (
	"testing"

	"a2atap/proxy/a2a"
)

// A secret that the recording hides is not a difference, whatever the live value is; a different visible value is.
func TestHiddenSecretsAreNoDifference(t *testing.T) {
	const pin, other = `"redacted.0123456789abcdef.11111111"`, `"redacted.aaaaaaaaaaaaaaaa.22222222"`
	for _, test := range []struct {
		was, now string
		changes  int
	}{
		{`{"pin":` + pin + `}`, `{"pin":"4711"}`, 0},
		{`{"pin":` + pin + `}`, `{"pin":` + other + `}`, 0},
		{`{"pin":"redacted.0123456789abcdef"}`, `{"pin":"4711"}`, 0},
		{`{"pin":"PIN redacted.0123456789abcdef.11111111"}`, `{"pin":"PIN 4711"}`, 0},
		{`{"pin":` + pin + `}`, `{"pin":""}`, 1},
		{`{"pin":` + pin + `}`, `{}`, 1},
		{`{"pin":"4711"}`, `{"pin":"4712"}`, 1},
	} {
		changes := Diff(a2a.Parse([]byte(test.was)).Root, a2a.Parse([]byte(test.now)).Root, sameAnyway)
		if len(changes) != test.changes {
			t.Errorf("%s and %s: %+v, want %d", test.was, test.now, changes, test.changes)
		}
	}
}
