package relay

import (
	"crypto/tls"
	"io"
	"net"
	"time"
)

// LingerTime is how long a connection that we or the agent have ended may still be read from, so that the client gets
// to see the last bytes: closing with bytes unread would reset it (RFC 9112 section 9.6).
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

// Reset closes c so that the other end sees a reset, at once and without a closing alert.
func Reset(c net.Conn) {
	below := base(c)
	if tcp, ok := below.(interface{ SetLinger(int) error }); ok {
		tcp.SetLinger(0)
	}
	below.Close()
}

// WriteFinal writes one of the relay's own answers and closes the connection in such a way that the client can read the
// answer: RFC 9112 section 9.6.
func WriteFinal(client net.Conn, answer []byte) {
	client.SetDeadline(time.Now().Add(LingerTime))
	if _, err := client.Write(answer); err == nil {
		CloseWrite(client)
		io.Copy(io.Discard, client) //nolint:errcheck // whatever it is, it is over
	}
	client.Close()
}
