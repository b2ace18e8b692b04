package relay

import (
	"errors"
	"testing"
)

func TestCutField(t *testing.T) {
	for _, test := range []struct {
		line, name, value string
		err               error
	}{
		{"host: a", "host", "a", nil},
		{"X-A:\t b \t", "X-A", "b", nil},
		{"A:", "A", "", nil},
		{"a@b:c", "a@b", "c", nil}, // not a token, but it cannot be misread
		{" A: b", "", "", errFold},
		{"\tb", "", "", errFold},
		{"A", "", "", errNoColon},
		{": b", "", "", errNoName},
		{"A : b", "", "", errNameBlank},
		{"A\x7f: b", "", "", errNameBlank},
		{"A: b\rc", "", "", errBareCR},
		{"A: b\x00c", "", "", errNUL},
	} {
		name, value, err := cutField([]byte(test.line))
		if string(name) != test.name || string(value) != test.value || !errors.Is(err, test.err) {
			t.Errorf("%q: got %q, %q, %v, want %q, %q, %v", test.line, name, value, err, test.name, test.value,
				test.err)
		}
	}
}
