package relay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHead(t *testing.T) {
	tests := map[string]struct {
		raw  string
		want Head
		err  error
	}{
		"request": {
			raw:  "POST /rpc HTTP/1.1\r\nhost: a\r\nX-A:\t b \r\nx-a: c\r\n\r\n",
			want: Head{"POST /rpc HTTP/1.1", []Field{{"host", "a"}, {"X-A", "b"}, {"x-a", "c"}}},
		},
		"answer, bare LF":  {raw: "HTTP/1.1 200 All good\nA:\n\n", want: Head{"HTTP/1.1 200 All good", []Field{{"A", ""}}}},
		"leading blanks":   {raw: "\r\n\nGET / HTTP/1.1\r\n\r\n", want: Head{Line: "GET / HTTP/1.1"}},
		"broken off":       {raw: "GET / HTTP/1.1\r\nA: b\r\nC: d", want: Head{"GET / HTTP/1.1", []Field{{"A", "b"}, {"C", "d"}}}},
		"what cannot be":   {raw: "GET / HTTP/1.1\r\nA: b\r\nC\r\n\r\n", want: Head{"GET / HTTP/1.1", []Field{{"A", "b"}}}, err: errNoColon},
		"nothing":          {},
		"blank lines only": {raw: "\r\n\r\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseHead([]byte(test.raw))
			if diff := cmp.Diff(test.want, got); diff != "" || err != test.err {
				t.Errorf("got error %v, want %v; head (-want +got):\n%s", err, test.err, diff)
			}
		})
	}
}

func ExampleParseHead() {
	h, err := ParseHead([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nVia: a\r\nvia: b\r\n\r\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, status, reason := h.Split()
	fmt.Println(status, reason, h.Get("content-type"), h.Values("Via"))
	// Output: 200 OK text/event-stream [a b]
}

// TestBuffer fills and empties a buffer, and looks at its size: small while little comes, large while much does.
func TestBuffer(t *testing.T) {
	var b buffer
	defer b.release()
	sizes := map[int]int{1: smallBuffer, smallBuffer: smallBuffer, 3 * smallBuffer: largeBuffer, largeBuffer: largeBuffer}
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
