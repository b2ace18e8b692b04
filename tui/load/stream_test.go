package load

import (
	"fmt"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// Events are found by their numbers, and numbers by their events, with blocks of comments between them.
func TestStreamNumbers(t *testing.T) {
	var s Stream
	k := 0
	for i := range 3 * pageEvents {
		e := capture.Event{Raw: []byte(": \n\n")}
		if i%3 == 1 {
			k++
			e.K = k
		}
		s.add(&e, &capture.Step{Arrival: uint64(2*i + 5), Offset: time.Duration(i)})
	}
	if s.Length() != 3*pageEvents || s.Count() != k || len(s.pages) != 3 {
		t.Errorf("%d blocks with %d events have %d marks", s.Length(), s.Count(), len(s.pages))
	}
	for i := range s.Length() {
		want := 0
		if i%3 == 1 {
			want = i/3 + 1
		}
		expect.Equal(t, fmt.Sprintf("block %d has number", i), want, s.Number(i))
		if want > 0 && s.IndexOf(EventAt(&capture.Exchange{Seq: 1}, want).Part) != i {
			t.Errorf("event %d is at %d, want %d", want, s.IndexOf(EventAt(&capture.Exchange{Seq: 1}, want).Part), i)
		}
		if p := s.Page(i); p.index != i/pageEvents*pageEvents || p.Arrival != uint64(2*p.index+5) {
			t.Errorf("block %d is read from %+v on", i, p)
		}
	}
	for _, part := range []string{"", "body", "event[0]", "event[99999]", "event[x]"} {
		if i := s.IndexOf(part); i >= 0 {
			t.Errorf("%q is block %d", part, i)
		}
	}
}
