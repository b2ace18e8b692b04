package redact

import (
	"fmt"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// The names of a2atap's own client apply to all agents, in addition to the names on each agent's card, in either order.
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
			expect.Equal(t, fmt.Sprintf("all first %v, %s", firstAll, agent.Name),
				masked(want), string(n.RequestHead(testMask.key, agent, []byte(in))))
			tp := new(tape).add(capture.Opened{Agent: agent, Head: []byte(in)}, capture.Closed{})
			sink, _ := run(t, Options{Names: n}, tp)
			expect.Equal(t, fmt.Sprintf("all first %v, %s: kept", firstAll, agent.Name),
				masked(want), string(sink.exchange().Request.Head))
		}
	}
}
