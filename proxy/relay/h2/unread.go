package h2

import (
	"slices"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
)

// maxIdleBytes bounds the control frames that a client may send while no stream is open before they count as traffic
// that was not seen. Keep-alive of the longest idle connection takes less.
const maxIdleBytes = 64 << 10

// unread reports the first bytes of this direction that pass as they came and belong to no request. One report stands for
// the rest of the connection.
func (h *half) unread(b []byte, why string) {
	if h.saidUnread {
		return
	}
	h.saidUnread = true
	const most = 64 << 10
	b = b[:min(len(b), most)]
	if h.from == h.client {
		b = slices.Concat([]byte(preface), b)
	}
	h.obs.Fault(-1, relay.TransportError{
		Kind: relay.KindUnsolicited, Side: h.from.side, Bytes: b, Detail: "frames that belong to no request: " + why,
	})
}

// countFrame reports a frame that carries no part of a request: b is what there is of it.
func (h *half) countFrame(fh http2.FrameHeader, b []byte) {
	control := false
	switch fh.Type {
	case http2.FrameData:
		if why := h.strayData(fh); why != "" {
			h.unread(b, why)
		}
	case http2.FrameHeaders, http2.FrameContinuation: // reported where their fields are read
	case http2.FramePushPromise:
		h.unread(b, "PUSH_PROMISE (RFC 9113 section 8.4)")
	case http2.FrameSettings:
		control = fh.Length%6 == 0
	case http2.FramePing:
		control = fh.Length == 8
	case http2.FramePriority:
		control = fh.Length == 5
	case http2.FrameRSTStream, http2.FrameWindowUpdate:
		control = fh.Length == 4
	case http2.FrameGoAway:
		control = fh.Length >= 8
	case 0x0a, 0x0c, 0x10: // ALTSVC, ORIGIN (RFC 7838, RFC 8336), PRIORITY_UPDATE (RFC 9218)
		control = true
	default:
		if control = fh.Type%0x1f == 0x0b; !control { // reserved to be ignored: sent to keep receivers tolerant
			h.unread(b, "a frame of the unknown type "+fh.Type.String()+" (RFC 9113 section 5.5)")
		}
	}
	switch {
	case fh.Type <= http2.FrameContinuation && fh.Type != http2.FrameData && fh.Type != http2.FrameHeaders &&
		fh.Type != http2.FrameContinuation && fh.Type != http2.FramePushPromise && !control:
		h.unread(b, fh.Type.String()+" of a wrong length (RFC 9113 section 4.2)")
	case control && h.from == h.client:
		if _, idle := h.idle(); !idle {
			h.idleBytes = 0
		} else if h.idleBytes += frameHead + int(fh.Length); h.idleBytes > maxIdleBytes {
			h.unread(b, "control frames without end while no stream is open (RFC 9113 section 10.5)")
		}
	}
}

// strayData says why a DATA frame is no part of a message; "" if it is one, or may have been sent before its sender
// learned that the stream was given up.
func (h *half) strayData(fh http2.FrameHeader) string {
	if fh.Length == 0 || fh.StreamID != 0 && h.streamOf(fh.StreamID) != nil {
		return ""
	}
	return h.strayStream(fh.StreamID)
}

// strayStream says what is wrong with a frame on a stream that is not open; "" if the stream was given up before its end.
func (h *half) strayStream(id uint32) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch _, given := h.givenUp[id]; {
	case given:
		return ""
	case id == 0 || id%2 == 0 || id > h.lastID:
		return "frames on a stream that no request has opened (RFC 9113 section 5.1)"
	}
	return "frames after the end of their stream (RFC 9113 section 5.1)"
}

// remembersBreak keeps in mind that a stream was given up before its end: frames of it may still be on their way.
func (c *conn) remembersBreak(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.givenUp == nil {
		c.givenUp = make(map[uint32]struct{})
	}
	if c.givenUp[id] = struct{}{}; len(c.givenUp) > maxStreams {
		clear(c.givenUp)
		c.givenUp[id] = struct{}{}
	}
}

// passRest passes on the beginning of a frame whose sender ends before the frame is complete.
func (h *half) passRest() {
	b := h.in.Unread()
	if len(b) == 0 || h.alone || h.over.Load() {
		return
	}
	h.unread(b, "the beginning of a frame that is not complete (RFC 9113 section 4.2)")
	h.to.out.take()
	h.to.out.bytes = append(h.to.out.bytes, b...)
	h.in.Consume(len(b))
	h.to.out.give() //nolint:errcheck // its sender has ended
}
