package proxy

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A connection to a tap waits a moment for its client, and no longer, even if a dial hangs.
func TestHandoverIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandover()
		here, there := net.Pipe()
		defer here.Close()
		defer there.Close()
		release := make(chan struct{})
		go h.dial(here, func() (net.Conn, error) { <-release; return nil, net.ErrClosed }) //nolint:errcheck // it hangs
		synctest.Wait()
		begun := time.Now()
		if got := h.client(there); got != there {
			t.Error("a connection was handed over for another one")
		}
		if waited := time.Since(begun); waited > handoverWait {
			t.Errorf("waited %v", waited)
		}
		close(release)
	})
}
