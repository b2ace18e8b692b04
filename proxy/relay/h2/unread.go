package h2

import (
	"slices"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
)

// maxIdleBytes bounds the control frames that a client may send while no stream is open before they count as unseen
// traffic. The keep-alive frames of the longest idle connection need less.
const maxIdleBytes = 64 << 10

// A strayWatch reports frames of one direction of a connection that belong to no request.
type strayWatch struct {
	*conn
	from      *end
	reported  bool
	idleBytes int // of control frames in a row, while no stream is open
}

// report reports the first bytes that pass unmodified and belong to no request: once per connection and direction.
func (w *strayWatch) report(b []byte, why string) {
	if w.reported {
		return
	}
	w.reported = true
	const most = 64 << 10
	b = b[:min(len(b), most)]
	if w.from == w.client {
		b = slices.Concat([]byte(preface), b)
	}
	w.obs.Fault(-1, relay.TransportError{
		Kind: relay.KindUnsolicited, Side: w.from.side, Bytes: b, Detail: "frames that belong to no request: " + why,
	})
}

// frame reports a frame that belongs to no request, and returns whether it is malformed. Its first bytes are b.
func (w *strayWatch) frame(fh http2.FrameHeader, b []byte) (malformed bool) {
	control, why := false, ""
	switch fh.Type {
	case http2.FrameData:
		why = w.strayData(fh)
	case http2.FrameHeaders, http2.FrameContinuation: // reported where their fields are read
	case http2.FramePushPromise:
		why = "PUSH_PROMISE (RFC 9113 section 8.4)"
	case http2.FrameSettings:
		control = fh.StreamID == 0 && fh.Length%6 == 0 && (fh.Flags&http2.FlagSettingsAck == 0 || fh.Length == 0)
	case http2.FramePing:
		control = fh.StreamID == 0 && fh.Length == 8
	case http2.FramePriority:
		control = fh.StreamID != 0 && fh.Length == 5
	case http2.FrameRSTStream:
		control = fh.StreamID != 0 && fh.Length == 4
	case http2.FrameWindowUpdate:
		control = fh.Length == 4
	case http2.FrameGoAway:
		control = fh.StreamID == 0 && fh.Length >= 8
	case 0x0a, 0x0c, 0x10: // ALTSVC, ORIGIN (RFC 7838, RFC 8336), PRIORITY_UPDATE (RFC 9218)
		control = true
	default:
		if control = fh.Type%0x1f == 0x0b; !control { // reserved to be ignored: sent to keep receivers tolerant
			why = "a frame of the unknown type " + fh.Type.String() + " (RFC 9113 section 5.5)"
		}
	}
	switch {
	case fh.Type >= http2.FramePriority && fh.Type <= http2.FrameWindowUpdate && fh.Type != http2.FramePushPromise && !control:
		why = fh.Type.String() + " of a wrong length or on a wrong stream (RFC 9113 section 6)"
	case control && w.from == w.client:
		if _, idle := w.idle(); !idle {
			w.idleBytes = 0
		} else if w.idleBytes += frameHead + int(fh.Length); w.idleBytes > maxIdleBytes {
			w.report(b, "endless control frames while no stream is open (RFC 9113 section 10.5)")
		}
	}
	if why != "" {
		w.report(b, why)
	}
	return why != ""
}

// strayData returns why a DATA frame is not part of a message, or "" if it is, or may have been sent before its sender
// learned that the stream was canceled.
func (w *strayWatch) strayData(fh http2.FrameHeader) string {
	if fh.Length == 0 || fh.StreamID != 0 && w.streamOf(fh.StreamID) != nil {
		return ""
	}
	return w.strayStream(fh.StreamID)
}

// strayStream returns the fault of a frame on a stream that is not open, or "" if the stream was canceled before its
// end.
func (w *strayWatch) strayStream(id uint32) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch _, given := w.givenUp[id]; {
	case given:
		return ""
	case id == 0 || id%2 == 0 || id > w.lastID:
		return "frames on a stream that no request has opened (RFC 9113 section 5.1)"
	}
	return "frames after the end of their stream (RFC 9113 section 5.1)"
}

// givenUp has the streams that were canceled before their end: frames for them may still arrive.
type givenUp map[uint32]struct{}

// add adds a stream. If there are too many, it forgets all others.
func (g givenUp) add(id uint32) {
	if g[id] = struct{}{}; len(g) > maxStreams {
		clear(g)
		g[id] = struct{}{}
	}
}

// passRest passes on the beginning of a frame whose sender ends before the frame is complete.
func passRest(h *half) {
	b := h.in.Unread()
	if len(b) == 0 || h.alone || h.over.Load() {
		return
	}
	h.strays.report(b, "the beginning of a frame that is not complete (RFC 9113 section 4.2)")
	h.to.out.take()
	h.to.out.bytes = append(h.to.out.bytes, b...)
	h.in.Consume(len(b))
	h.to.out.give() //nolint:errcheck // its sender has ended
}
