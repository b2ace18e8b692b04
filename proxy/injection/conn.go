package injection

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"a2atap/proxy/internal/bottom"
	"a2atap/proxy/relay"
)

// A conn is the relay's connection to the agent. The relay writes requests, where each write belongs to one; it reads
// answers.
type conn struct {
	net.Conn
	i     *Injector
	queue []*exchange // whose answers have not ended, in order; guarded by the injector's lock

	mu       sync.Mutex
	deadline time.Time // of reads
	woken    bool      // a read was interrupted, so that it checks the queue

	leave sync.Once
	left  chan struct{} // closed when the relay sends no more
	end   sync.Once
	gone  chan struct{} // closed when the connection is

	answers
}

// Write forwards a part of a request, or delays it until it is known whether the agent should get it.
func (c *conn) Write(p []byte) (int, error) {
	e := c.start()
	if e == nil {
		return c.Conn.Write(p)
	}
	c.i.mu.Lock()
	known, kept := e.known, e.fault != nil && e.fault.Kind.keepsRequest()
	wait := !known && !e.passes && len(e.held)+len(p) <= maxHeld
	held := e.held
	if wait {
		e.held = append(e.held, p...)
	} else {
		e.held, e.passes = nil, true
	}
	c.i.mu.Unlock()
	switch {
	case wait:
		return len(p), nil
	case kept:
		c.wake()
		return len(p), nil
	case len(held) > 0:
		if _, err := c.Conn.Write(held); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// wake makes a read that waits for the agent check the queue.
func (c *conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.woken = true
	c.Conn.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // of a closed connection
}

// awake reports whether a read was interrupted by wake, which is over then.
func (c *conn) awake() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.woken {
		return false
	}
	c.woken = false
	c.Conn.SetReadDeadline(c.deadline) //nolint:errcheck // of a closed connection
	return true
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	if c.woken {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.Conn.SetWriteDeadline(t))
}

// CloseWrite is called when the client stops sending, which ends faults that make it wait.
func (c *conn) CloseWrite() error {
	c.leave.Do(func() { close(c.left) })
	c.i.mu.Lock()
	var held []byte
	if e := c.i.current; e != nil && !e.known {
		held, e.held, e.passes = e.held, nil, true
	}
	c.i.mu.Unlock()
	if len(held) > 0 {
		c.Conn.Write(held) //nolint:errcheck // a request that is not complete
	}
	relay.CloseWrite(c.Conn)
	return nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.end.Do(func() { close(c.gone) })
	return c.Conn.Close()
}

// NetConn returns the connection at the bottom, for a reset. What waits learns when it is closed.
func (c *conn) NetConn() net.Conn {
	return bottom.Of(c.Conn, func(below net.Conn) error {
		c.end.Do(func() { close(c.gone) })
		return below.Close()
	})
}

// wait waits until a time, and returns false if the client has left before. The error is for the read.
func (c *conn) wait(until time.Time) (waited bool, err error) {
	c.mu.Lock()
	deadline := c.deadline
	c.mu.Unlock()
	late := !deadline.IsZero() && deadline.Before(until)
	if late {
		until = deadline
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.left:
		return false, nil
	case <-c.gone:
		return false, net.ErrClosed
	}
	if late {
		return false, os.ErrDeadlineExceeded
	}
	return true, nil
}

// Read returns the agent's data, with the faults in it.
func (c *conn) Read(p []byte) (int, error) {
	for {
		switch {
		case !c.until.IsZero():
			if _, err := c.wait(c.until); err != nil {
				return 0, err
			}
			c.until = time.Time{}
		case len(c.out) > 0:
			n := copy(p, c.out)
			c.out = c.out[n:]
			return n, nil
		case len(c.later) > 0:
			c.out, c.until = c.later[0].bytes, time.Now().Add(c.later[0].wait)
			c.later = c.later[1:]
		case !c.hangs.IsZero():
			waited, err := c.wait(c.hangs)
			if err != nil {
				return 0, err
			}
			c.hangs = time.Time{}
			c.fail(io.ErrUnexpectedEOF, waited)
		case c.err != nil:
			return 0, c.err
		case c.instead():
		default:
			if c.scan(); c.ready() {
				continue
			}
			if err := c.fill(); err != nil {
				return 0, err
			}
		}
	}
}

// fill reads from the agent.
func (c *conn) fill() error {
	if cap(c.in)-len(c.in) < 4<<10 {
		grown := make([]byte, len(c.in), 2*cap(c.in)+32<<10)
		copy(grown, c.in)
		c.in = grown
	}
	n, err := c.Conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	case errors.Is(err, os.ErrDeadlineExceeded):
		if c.awake() {
			return nil
		}
		return err
	}
	c.ended(err)
	return nil
}

// ownAnswer returns the answer with the status of a fault.
func ownAnswer(f *Fault) []byte {
	body := fmt.Sprintf(`{"error":{"from":"a2atap","reason":"fault","message":"this answer is a fault made by the tap: `+
		`%s; the agent did not get the request"}}`, f.String())
	again := ""
	if f.RetryAfter >= 0 {
		again = "Retry-After: " + strconv.Itoa(f.RetryAfter) + "\r\n"
	}
	text := http.StatusText(f.Status)
	if text == "" {
		text = "Fault"
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nServer: a2atap\r\nX-A2atap: fault\r\n%sContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", f.Status, text, again, len(body), body)
}

var errReset = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// answered removes the exchange whose answer is complete from the queue.
func (c *conn) answered() {
	c.i.mu.Lock()
	defer c.i.mu.Unlock()
	c.queue = slices.Delete(c.queue, 0, 1)
}

// front returns the exchange whose answer is due, which may be nil, and whether its fault is known.
func (c *conn) front() (e *exchange, known bool) {
	c.i.mu.Lock()
	defer c.i.mu.Unlock()
	if len(c.queue) == 0 {
		return nil, false
	}
	e = c.queue[0]
	return e, e.known
}

// start returns the exchange whose bytes are being written. A new exchange joins the queue of answers.
func (c *conn) start() *exchange {
	i := c.i
	i.mu.Lock()
	defer i.mu.Unlock()
	e := i.current
	if e != nil && !e.queued {
		e.queued = true
		c.queue = append(c.queue, e)
	}
	return e
}

// Wrap returns a connection to the agent with the faults in the data read from it.
func (i *Injector) Wrap(below net.Conn) net.Conn {
	return &conn{Conn: below, i: i, left: make(chan struct{}), gone: make(chan struct{})}
}

// instead answers the exchange whose answer is due, if the agent did not get its request, and reports whether it did.
func (c *conn) instead() bool {
	e, known := c.front()
	if e == nil || !known || e.fault == nil || !e.fault.Kind.keepsRequest() {
		return false
	}
	if e.fault.Kind == Drop {
		c.made, c.hangs = e, time.Now().Add(c.i.hang)
		return true
	}
	c.out = ownAnswer(e.fault)
	c.answered()
	return true
}
