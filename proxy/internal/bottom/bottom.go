// Package bottom finds the connection below others that wrap it, so that it can be reset.
package bottom

import "net"

// Of returns the connection at the bottom of one, as far as those above say what they wrap with a method NetConn. To
// close it is what the function does, which is given that connection: what waits above has to learn of it.
func Of(over net.Conn, closing func(below net.Conn) error) net.Conn {
	for {
		wraps, ok := over.(interface{ NetConn() net.Conn })
		if !ok {
			return &conn{over, closing}
		}
		over = wraps.NetConn()
	}
}

type conn struct {
	net.Conn
	closing func(net.Conn) error
}

// SetLinger is that of TCP.
func (c *conn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(interface{ SetLinger(int) error }); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}

// Close implements net.Conn.
func (c *conn) Close() error { return c.closing(c.Conn) }
