//go:build unix

package inflow

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// A readiness reads a connection without having room for what it may send: room is made when something is there. So a
// stream that is silent costs no Buffer.
type readiness struct {
	raw  syscall.RawConn
	try  func(fd uintptr) bool // made once
	into space
	n    int
	err  error
}

// readinessOf returns the readiness of a TCP connection, nil of any other. What TLS has read ahead is in its own
// buffers.
func readinessOf(c net.Conn) *readiness {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	r := &readiness{raw: raw}
	r.try = r.attempt
	return r
}

// read waits until there is something to read and reads it into b. Its errors are those of a read.
func (r *readiness) read(b space) (int, error) {
	r.into, r.n, r.err = b, 0, nil
	if err := r.raw.Read(r.try); err != nil {
		b.releaseToWait()
		if op, ok := errors.AsType[*net.OpError](err); ok {
			op.Op = "read"
		}
		return 0, err
	}
	if r.n > 0 {
		return r.n, nil
	}
	b.releaseToWait()
	return 0, r.err
}

// attempt reads once, and reports false if there is nothing to read yet.
func (r *readiness) attempt(fd uintptr) bool {
	b := r.into
	room := b.makeRoom()
	for {
		n, err := syscall.Read(int(fd), room)
		switch {
		case n > 0:
			b.took(n)
			r.n = n
		case err == nil:
			r.err = io.EOF
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			b.releaseToWait()
			return false
		default:
			r.err = os.NewSyscallError("read", err)
		}
		return true
	}
}
