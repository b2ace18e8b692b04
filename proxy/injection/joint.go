package injection

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// A joint is one end of an in-memory connection that can end like TCP: half-closed, in good form, or with a reset.
type joint struct {
	net.Conn // for reading; writes go to out
	out      net.Conn
	reset    *atomic.Bool // one of the ends was reset

	closed atomic.Bool
	abrupt atomic.Bool
	end    sync.Once
	ended  func() // called when this end was closed
}

// join returns the two ends of a new connection.
func join() (near, far *joint) {
	a, b := net.Pipe()
	c, d := net.Pipe()
	reset := new(atomic.Bool)
	return &joint{Conn: a, out: d, reset: reset, ended: func() {}}, &joint{Conn: c, out: b, reset: reset, ended: func() {}}
}

// Read implements net.Conn.
func (j *joint) Read(p []byte) (int, error) {
	n, err := j.Conn.Read(p)
	return n, j.reason(err, "read", io.EOF)
}

// Write implements net.Conn.
func (j *joint) Write(p []byte) (int, error) {
	n, err := j.out.Write(p)
	return n, j.reason(err, "write", &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)})
}

// reason returns an error in the terms of TCP. otherwise is the error for an end that was closed in good form.
func (j *joint) reason(err error, op string, otherwise error) error {
	switch {
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe):
		return err
	case j.closed.Load():
		return net.ErrClosed
	case j.reset.Load():
		return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
	}
	return otherwise
}

// CloseWrite closes the writing side.
func (j *joint) CloseWrite() error { return j.out.Close() }

// SetLinger works like TCP's: with 0, Close resets the connection.
func (j *joint) SetLinger(seconds int) error {
	j.abrupt.Store(seconds == 0)
	return nil
}

// Close implements net.Conn.
func (j *joint) Close() error {
	j.end.Do(func() {
		j.closed.Store(true)
		if j.abrupt.Load() {
			j.reset.Store(true)
		}
		j.out.Close()
		j.Conn.Close()
		j.ended()
	})
	return nil
}
