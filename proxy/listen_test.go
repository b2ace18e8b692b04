package proxy

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A scantyListener has no descriptors at first.
type scantyListener struct {
	failures int
	conns    chan net.Conn
}

func (l *scantyListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	conn, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l *scantyListener) Close() error   { return nil }
func (l *scantyListener) Addr() net.Addr { return nil }

// Connections are accepted again when there is room for them, and the user is told once what to do.
func TestAcceptGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Proxy{noticed: make(map[string]bool), callbacks: make(chan func(), maxNotices)}
		l := &scantyListener{failures: 12, conns: make(chan net.Conn, 1)}
		near, far := net.Pipe()
		defer near.Close()
		l.conns <- far
		begun := time.Now()
		served := make(chan time.Duration, 1)
		go p.accept(context.Background(), "tap booker", l, func(_ context.Context, c net.Conn) {
			served <- time.Since(begun)
			c.Close()
		})
		if after := <-served; after > 10*time.Second {
			t.Errorf("accepted after %v", after)
		}
		close(l.conns)
		synctest.Wait()
		if len(p.noticed) != 1 {
			t.Errorf("noticed %v", p.noticed)
		}
		for text := range p.noticed {
			if !strings.HasPrefix(text, "tap booker cannot accept connections for the moment: this machine allows a2atap no "+
				"more connections (") || !strings.HasSuffix(text, " open files); raise ulimit -n") {
				t.Errorf("noticed %q", text)
			}
		}
	})
}
