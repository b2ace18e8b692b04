package relay

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
)

// A refusingSession is a session of TLS that the agent ends before it has answered anything.
type refusingSession struct{ net.Conn }

func (refusingSession) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "remote error", Err: tls.AlertError(116)} // certificate required
}

// TestRequestOfRefusedSession sends a request whose body comes after the agent has ended the session, and after the
// client has been told so: it belongs to the record all the same.
func TestRequestOfRefusedSession(t *testing.T) {
	for name, pieces := range map[string][]string{
		"body at once":   {"text"},
		"body in pieces": {"t", "ex", "t"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, false, func(c *Config) {
				dial := c.Dial
				c.Dial = func(ctx context.Context) (net.Conn, error) {
					agent, err := dial(ctx)
					return refusingSession{agent}, err
				}
			})
			client := w.client()
			client.send(w.host("POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 4\r\n\r\n"))
			if status, kind := ownAnswerOf(t, client); status != 502 || kind != KindTLS {
				t.Errorf("the client got %d %s", status, kind)
			}
			for i, piece := range pieces {
				client.send(piece)
				sent := len(piece)
				for _, before := range pieces[:i] {
					sent += len(before)
				}
				w.until("body", func() bool { return len(w.exchanges[0].Body) == sent })
			}
			x := w.ended(0) // with the client still there
			wantFault(t, x.Fault, KindTLS, SideAgent)
			if x.Body != "text" || !x.RequestEnd {
				t.Errorf("the record has the body %q, complete %v", x.Body, x.RequestEnd)
			}
		})
	}
}
