package otlp

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

const (
	someTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	someParent = "00f067aa0ba902b7"
)

func TestTraceparent(t *testing.T) {
	for value, want := range map[string]bool{
		"00-" + someTrace + "-" + someParent + "-01":               true,
		" 00-" + someTrace + "-" + someParent + "-00\t":            true,
		"cc-" + someTrace + "-" + someParent + "-01":               true,
		"cc-" + someTrace + "-" + someParent + "-01-what-else":     true,
		"cc-" + someTrace + "-" + someParent + "-01what":           false,
		"00-" + someTrace + "-" + someParent + "-01-what-else":     false,
		"ff-" + someTrace + "-" + someParent + "-01":               false,
		"00-" + strings.ToUpper(someTrace) + "-" + someParent:      false,
		"00-" + strings.ToUpper(someTrace) + "-00f067aa0ba902b7":   false,
		"00-" + strings.Repeat("0", 32) + "-" + someParent + "-01": false,
		"00-" + someTrace + "-" + strings.Repeat("0", 16) + "-01":  false,
		"00-" + someTrace + "-" + someParent + "-0g":               false,
		"00_" + someTrace + "-" + someParent + "-01":               false,
		"": false,
	} {
		trace, parent, _, ok := traceparent([]string{value})
		expect.Equal(t, fmt.Sprintf("%q is valid", value), want, ok)
		if ok && (hex.EncodeToString(trace[:]) != someTrace || hex.EncodeToString(parent[:]) != someParent) {
			t.Errorf("%q gives %x and %x", value, trace, parent)
		}
	}
	one := "00-" + someTrace + "-" + someParent + "-01"
	if _, _, _, ok := traceparent([]string{one, one}); ok {
		t.Error("two headers are one")
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add("00-" + someTrace + "-" + someParent + "-01")
	f.Add("01-" + someTrace + "-" + someParent + "-01-")
	f.Fuzz(func(t *testing.T, value string) {
		trace, parent, flags, ok := traceparent([]string{value})
		if !ok {
			if trace != [16]byte{} || parent != [8]byte{} {
				t.Errorf("%q is not valid, and has ids", value)
			}
			return
		}
		if text := fmt.Sprintf("-%x-%x-%02x", trace, parent, flags); !strings.Contains(value, text) {
			t.Errorf("%q was read as %s", value, text)
		}
	})
}

// A place in a trace follows from the exchange, its causes and what the client says, in whichever order it is asked
// for.
func TestIdentity(t *testing.T) {
	id := func(n uint64) uuid.UUID { return uuid.UUID{15: byte(n)} }
	plain := "POST / HTTP/1.1\r\n\r\n"
	traced := "POST / HTTP/1.1\r\ntraceparent: 00-" + someTrace + "-" + someParent + "-01\r\n\r\n"
	heads := map[uint64]string{1: plain, 2: plain, 3: traced, 4: plain, 5: plain}
	causes := map[uint64]uint64{2: 1, 3: 1, 4: 3, 5: 9} // 5 says that its cause comes later
	make := func() *Spans {
		return New(Options{
			Parent: func(seq uint64) Parent { return Parent{Exchange: causes[seq]} },
			Opened: func(seq uint64) (capture.Opened, bool) {
				return capture.Opened{ID: id(seq), Head: []byte(heads[seq])}, heads[seq] != ""
			},
		})
	}
	ask := func(s *Spans, seq uint64) identity {
		head := capture.ParseRequestHead([]byte(heads[seq]))
		return s.identify(seq, id(seq), &head, 0)
	}
	up, down := make(), make()
	for n := uint64(1); n <= 5; n++ {
		ask(up, n)
		ask(down, 6-n)
	}
	for n := uint64(1); n <= 5; n++ {
		if ask(up, n) != ask(down, n) {
			t.Errorf("exchange %d is at %+v or at %+v", n, ask(up, n), ask(down, n))
		}
	}
	one, two, three, four, five := ask(up, 1), ask(up, 2), ask(up, 3), ask(up, 4), ask(up, 5)
	switch {
	case two.trace != one.trace || two.parent != one.span || two.flags != parentKnown:
		t.Errorf("2 is not beneath 1: %+v, %+v", two, one)
	case hex.EncodeToString(three.trace[:]) != someTrace || hex.EncodeToString(three.parent[:]) != someParent:
		t.Errorf("3 is not where its client says: %+v", three)
	case three.flags != parentKnown|parentRemote|1:
		t.Errorf("the flags of 3 are %b", three.flags)
	case four.trace != three.trace || four.parent != three.span:
		t.Errorf("4 is not beneath 3: %+v, %+v", four, three)
	case five.parent != [8]byte{} || five.trace == one.trace:
		t.Errorf("5 is beneath something: %+v", five)
	}
	if links := up.links(&three); len(links) != 1 || string(links[0].SpanId) != string(one.span[:]) {
		t.Errorf("3 does not lead to 1: %v", links)
	}
	if links := up.links(&four); len(links) != 0 {
		t.Errorf("4 leads to %v, though that is its parent", links)
	}
}

// A chain of causes, none of which is remembered, is followed so far and no further.
func TestLongChain(t *testing.T) {
	asked := 0
	s := New(Options{
		Parent: func(seq uint64) Parent { return Parent{Exchange: seq - 1} },
		Opened: func(uint64) (capture.Opened, bool) { asked++; return capture.Opened{}, true },
	})
	s.identify(1<<40, uuid.Nil, &capture.Head{}, 0)
	expect.Equal(t, "exchanges were read", maxDepth, asked)
}
