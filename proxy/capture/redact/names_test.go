package redact

import (
	"testing"

	"a2atap/proxy/capture"
)

// What a client of ours says holds for all agents, beside what the card of each has named, whichever came first.
func TestNamesForAll(t *testing.T) {
	booker, other := capture.Peer{Name: "booker"}, capture.Peer{Name: "other"}
	card := capture.Description{Headers: []string{"X-Booking"}, Query: []string{"seat"}}
	for _, firstAll := range []bool{true, false} {
		n := &Names{}
		n.LearnForAll(nil, nil)
		if !n.Empty() {
			t.Fatal("nothing was named, and yet something is known")
		}
		if firstAll {
			n.LearnForAll([]string{"X-Tickets"}, []string{"row_no"})
		}
		n.Learn(&capture.Exchange{Agent: booker}, card)
		if !firstAll {
			n.LearnForAll([]string{"X-Tickets"}, []string{"row_no"})
		}
		if n.Empty() {
			t.Error("names are known, and yet there are none")
		}
		const in = "GET /?seat=abc&row_no=def HTTP/1.1\r\nX-Tickets: ghi\r\nX-Booking: jkl\r\n\r\n"
		for agent, want := range map[capture.Peer]string{
			booker: "GET /?seat=«abc»&row_no=«def» HTTP/1.1\r\nX-Tickets: «ghi»\r\nX-Booking: «jkl»\r\n\r\n",
			other:  "GET /?seat=abc&row_no=«def» HTTP/1.1\r\nX-Tickets: «ghi»\r\nX-Booking: jkl\r\n\r\n",
		} {
			if got := string(n.RequestHead(testMask.key, agent, []byte(in))); got != masked(want) {
				t.Errorf("all first %v, %s: got %q, want %q", firstAll, agent.Name, got, masked(want))
			}
			tp := new(tape).add(capture.Opened{Agent: agent, Head: []byte(in)}, capture.Closed{})
			sink, _ := run(t, Options{Names: n}, tp)
			if got := string(sink.exchange().Request.Head); got != masked(want) {
				t.Errorf("all first %v, %s: kept %q, want %q", firstAll, agent.Name, got, masked(want))
			}
		}
	}
}
