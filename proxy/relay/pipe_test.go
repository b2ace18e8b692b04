package relay

import (
	"net"
	"sync"
)

// A pipeListener accepts connections that are pipes in memory.
type pipeListener struct {
	dialled chan net.Conn
	closed  chan struct{}
	end     func()
}

func newPipeListener() *pipeListener {
	l := &pipeListener{dialled: make(chan net.Conn), closed: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// dial returns the other end of a connection, when it has been accepted.
func (l *pipeListener) dial() (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.dialled <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialled:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.end()
	return nil
}

// Addr implements net.Listener.
func (*pipeListener) Addr() net.Addr { return pipeAddr{} }

// pipeAddr is the address of a pipe.
type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "127.0.0.1:9001" }
