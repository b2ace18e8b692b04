package hold

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/internal/bottom"
)

// A conn is the relay's connection to the agent. The relay writes requests, in the order in which they began; it reads
// answers.
type conn struct {
	line  *Line
	dial  func(context.Context) (net.Conn, error)
	below atomic.Pointer[net.Conn]

	leave sync.Once
	left  chan struct{} // closed when the client sends no more
	end   sync.Once
	gone  chan struct{} // closed when the connection is

	mu       sync.Mutex
	deadline time.Time  // of reads
	going    *gathering // an answer that continues, and has not been read completely; may be nil

	sending sending
	answering
}

func (c *conn) agent() net.Conn { return *c.below.Load() }

// Close implements net.Conn.
func (c *conn) Close() error {
	c.isGone()
	return c.agent().Close()
}

// isGone notes that the connection is closed: none of its messages are held any more.
func (c *conn) isGone() {
	c.mu.Lock()
	c.end.Do(func() { close(c.gone) })
	c.mu.Unlock()
	c.went()
	go func() {
		s := &c.sending
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waits != nil {
			c.goOn(decision{})
		}
	}()
}

// NetConn returns the connection at the bottom, for a reset. What waits learns when it is closed.
func (c *conn) NetConn() net.Conn {
	return bottom.Of(c.agent(), func(below net.Conn) error {
		err := below.Close()
		c.isGone()
		return err
	})
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.agent().SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.agent().SetWriteDeadline(t) }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return c.agent().LocalAddr() }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return c.agent().RemoteAddr() }
