package h2

import "a2atap/proxy/budget"

// allHeads is the room for the heads of all open streams, on all connections. A few bytes can expand to a head of the
// maximum size (RFC 9113 section 10.5.1), and the recorder keeps the head of a stream until the stream ends.
var allHeads = budget.NewPool(budget.AllHeaderBytes)

// heads is the room that the heads of one stream take up, on its connection and in total.
type heads struct{ conn, all *budget.Share }

// keepHead reserves room for a header block of a stream, whose lock is held, and reports whether there was enough.
func (c *conn) keepHead(s *stream, b *block) bool {
	n := b.size - budget.FreeHeaderBytes
	if n <= 0 || s.ended {
		return true
	}
	if s.heads.conn == nil {
		s.heads = heads{c.heads.Share(), allHeads.Share()}
	}
	return s.heads.conn.Take(n) && s.heads.all.Take(n)
}

// end gives the room back.
func (h *heads) end() {
	h.conn.Close()
	h.all.Close()
}
