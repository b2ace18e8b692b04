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
		{"a@b:c", "a@b", "c", nil}, // no token, but nobody can misread it
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

// TestBuffer fills and empties a buffer, and looks at its size: small while little comes, large while much does.
func TestBuffer(t *testing.T) {
	var b buffer
	defer b.release()
	sizes := map[int]int{
		1: smallBuffer, smallBuffer: smallBuffer, 3 * smallBuffer: largeBuffer,
		largeBuffer: largeBuffer,
	}
	for _, n := range []int{1, smallBuffer, 3 * smallBuffer, largeBuffer, 1} {
		if err := b.fill(limited(n)); err != nil {
			t.Fatal(err)
		}
		if n == 3*smallBuffer && len(b.b) != sizes[n] {
			t.Errorf("after a full read the buffer has %d bytes, want %d", len(b.b), sizes[n])
		}
		b.consume(len(b.unread()))
	}
	b.fill(limited(1))
	if len(b.b) != smallBuffer {
		t.Errorf("after a small read the buffer has %d bytes, want %d", len(b.b), smallBuffer)
	}
	for len(b.unread()) < 3*largeBuffer { // a head that grows
		if err := b.fill(limited(1000)); err != nil {
			t.Fatal(err)
		}
	}
	size := len(b.b)
	b.fill(limited(size)) // to the brim
	b.consume(size - 1)
	b.fill(limited(1))
	if got := len(b.unread()); got != 2 || len(b.b) != size {
		t.Errorf("%d bytes are unread in a buffer of %d, want 2 in one of %d", got, len(b.b), size)
	}
}

// limited reads that many bytes at once, or as many as there is room for.
type limited int

func (l limited) Read(p []byte) (int, error) { return min(int(l), len(p)), nil }
