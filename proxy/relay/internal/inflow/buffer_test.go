package inflow

import (
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestBuffer fills and empties a buffer, and looks at its size: small while little comes, large while much does.
func TestBuffer(t *testing.T) {
	var b Buffer
	defer b.Release()
	sizes := map[int]int{
		1: smallBuffer, smallBuffer: smallBuffer, 3 * smallBuffer: largeBuffer,
		largeBuffer: largeBuffer,
	}
	for _, n := range []int{1, smallBuffer, 3 * smallBuffer, largeBuffer, 1} {
		must.Do(t, b.Fill(limited(n)))
		if n == 3*smallBuffer && len(b.b) != sizes[n] {
			t.Errorf("after a full read the buffer has %d bytes, want %d", len(b.b), sizes[n])
		}
		b.Consume(len(b.Unread()))
	}
	b.Fill(limited(1))
	expect.Equal(t, "after a small read the buffer", smallBuffer, len(b.b))
	for len(b.Unread()) < 3*largeBuffer { // a head that grows
		must.Do(t, b.Fill(limited(1000)))
	}
	size := len(b.b)
	b.Fill(limited(size)) // to the brim
	b.Consume(size - 1)
	b.Fill(limited(1))
	if got := len(b.Unread()); got != 2 || len(b.b) != size {
		t.Errorf("%d bytes are unread in a buffer of %d, want 2 in one of %d", got, len(b.b), size)
	}
}

// limited reads that many bytes at once, or as many as there is room for.
type limited int

func (l limited) Read(p []byte) (int, error) { return min(int(l), len(p)), nil }
