// Package bottom finds the connection below others that wrap it, so that it can be reset.
package bottom

import "net"

// Of returns the connection at the bottom of over, following the methods NetConn of wrapping connections. Its Close
// calls closing with that connection, so that the connections above can learn of it.
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

// SetLinger works like TCP's.
func (c *conn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(interface{ SetLinger(int) error }); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}

// Close implements net.Conn.
func (c *conn) Close() error { return c.closing(c.Conn) }
