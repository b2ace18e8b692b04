package forward

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/relay"
)

// A tunnel is closed when it has been silent in both directions for its limit, by a clock of the test's own, and not
// before.
func TestSpliceIdle(t *testing.T) {
	const limit = time.Hour
	tests := map[string]struct {
		idle    time.Duration
		traffic func(client, agent net.Conn) // each in its own goroutine's stead
		ends    time.Duration                // 0 is never
	}{
		"silent":      {limit, func(net.Conn, net.Conn) {}, limit},
		"for ever":    {-1, func(net.Conn, net.Conn) { time.Sleep(1000 * limit) }, 0},
		"client only": {limit, func(client, _ net.Conn) { dribble(client, 10, limit-1) }, 10*(limit-1) + limit},
		"agent only":  {limit, func(_, agent net.Conn) { dribble(agent, 3, limit/2) }, 3*(limit/2) + limit},
		"in turn": {limit, func(client, agent net.Conn) {
			for range 5 {
				dribble(client, 1, limit*2/3)
				dribble(agent, 1, limit*2/3)
			}
		}, 10*(limit*2/3) + limit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, near := net.Pipe()
				far, agent := net.Pipe()
				for _, c := range []net.Conn{client, agent} {
					go io.Copy(io.Discard, c) //nolint:errcheck // it ends with the tunnel
				}
				s := splice{client: near, agent: far, idle: test.idle, request: func([]byte) {}, answer: func([]byte) {}}
				begun := time.Now()
				ended := make(chan *relay.TransportError, 1)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				go func() { ended <- s.run(ctx) }()
				test.traffic(client, agent)
				if test.ends == 0 {
					synctest.Wait()
					select {
					case f := <-ended:
						t.Fatalf("it ended with %v", f)
					default:
					}
					cancel()
				}
				f := <-ended
				switch took := time.Since(begun); {
				case test.ends == 0:
				case f == nil || f.Kind != relay.KindTimeout || f.Side != relay.SideProxy ||
					!strings.Contains(f.Detail, "silent for 1h0m0s"):
					t.Errorf("it ended with %+v", f)
				case took != test.ends:
					t.Errorf("it ended after %v, want %v", took, test.ends)
				}
			})
		})
	}
}

// dribble waits and writes a byte, n times.
func dribble(c net.Conn, n int, pause time.Duration) {
	for range n {
		time.Sleep(pause)
		c.Write([]byte{0}) //nolint:errcheck // who reads says what came
	}
}
