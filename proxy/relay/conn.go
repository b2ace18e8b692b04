package relay

import (
	"crypto/tls"
	"io"
	"net"
	"time"
)

// LingerTime is how long the relay keeps reading from a connection that it or the agent has ended, so that the client
// receives the last bytes. Closing with unread bytes would reset the connection (RFC 9112 section 9.6).
const LingerTime = 500 * time.Millisecond

// base returns the connection at the bottom of c.
func base(c net.Conn) net.Conn {
	for {
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		below := over.NetConn()
		if below == nil {
			return c
		}
		c = below
	}
}

// CloseWrite ends our sending on c and leaves it open for reading: a FIN, on TLS a closing alert and a FIN. A
// connection that cannot is closed.
func CloseWrite(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		c.Close()
		return
	}
	if half.CloseWrite() != nil {
		return // the other end has closed; the next read will find out
	}
	if _, ok := c.(*tls.Conn); ok {
		if half, ok := base(c).(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
	}
}

// Reset closes c at once, without a closing alert, so that the other end sees a reset.
func Reset(c net.Conn) {
	below := base(c)
	if tcp, ok := below.(interface{ SetLinger(int) error }); ok {
		tcp.SetLinger(0)
	}
	below.Close()
}

// WriteFinal writes one of the relay's own answers, and closes the connection so that the client can still read it: RFC
// 9112 section 9.6.
func WriteFinal(client net.Conn, answer []byte) {
	client.SetDeadline(time.Now().Add(LingerTime))
	if _, err := client.Write(answer); err == nil {
		CloseWrite(client)
		io.Copy(io.Discard, client) //nolint:errcheck // the connection is finished in any case
	}
	client.Close()
}
