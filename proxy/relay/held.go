package relay

import (
	"bytes"
	"time"

	"a2atap/proxy/budget"
)

// held is a message that waits to be complete.
type held struct {
	limit   int    // bytes of body that may be held
	head    []byte // as it would be sent
	wire    []byte // head and body as they would be sent
	body    []byte // without framing; it is part of wire if plain
	plain   bool   // the body has no framing
	trailer []byte
	until   time.Time // when it is forwarded as it came; zero means no limit
	room    *budget.Share
}

// limited reports whether a message is held for a bounded time; false for nil.
func (h *held) limited() bool { return h != nil && !h.until.IsZero() }

// newHeld begins to hold a message. It returns nil if it is known to be too large: limit is at least 1.
func newHeld(limit int, head []byte, b body) *held {
	if b.framing == framedLength && b.left > int64(limit) {
		return nil
	}
	head = bytes.Clone(head)
	return &held{
		limit: limit, head: head, wire: head[:len(head):len(head)], plain: b.framing != framedChunked,
		room: budget.HeldRoom.Share(),
	}
}

// end gives up the room of the message, if there is one.
func (h *held) end() {
	if h != nil {
		h.room.Close()
	}
}

// add takes bytes of the body, whose state is a copy, and reports whether the message is still within its limit, and there
// is room for it.
func (h *held) add(b body, p []byte) bool {
	var room bool
	if h.wire, room = h.room.Append(h.wire, p); !room {
		h.wire = append(h.wire, p...)
		return false
	}
	if h.plain {
		h.body = h.wire[len(h.head):len(h.wire):len(h.wire)]
		return len(h.body) <= h.limit
	}
	for len(p) > 0 && room {
		n, kind, err := b.next(p)
		switch {
		case err != nil || n == 0:
			return true
		case kind == pieceData:
			h.body, room = h.room.Append(h.body, p[:n])
		case kind == pieceTrailer:
			h.trailer, room = h.room.Append(h.trailer, p[:n])
		}
		p = p[n:]
	}
	// Framing may outweigh the data, but not without bound.
	return room && len(h.body) <= h.limit && len(h.wire) <= len(h.head)+8*h.limit+maxChunkLine
}
