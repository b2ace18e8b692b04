package h2

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
)

// settings records the sender's announced settings before the receiver can act on them: RFC 9113 section 6.5.2.
func (h *half) settings(fh http2.FrameHeader, payload []byte) {
	if fh.Flags&http2.FlagSettingsAck != 0 || fh.StreamID != 0 || len(payload)%6 != 0 {
		return
	}
	for ; len(payload) > 0; payload = payload[6:] {
		s := http2.Setting{
			ID:  http2.SettingID(uint16(payload[0])<<8 | uint16(payload[1])),
			Val: uint32(payload[2])<<24 | uint32(payload[3])<<16 | uint32(payload[4])<<8 | uint32(payload[5]),
		}
		switch s.ID {
		case http2.SettingHeaderTableSize:
			if s.Val > maxTable { // the other end gets our value, since the table there is ours
				copy(payload[2:], []byte{0, maxTable >> 16, maxTable >> 8 & 0xff, maxTable & 0xff})
			}
			h.from.announce(min(s.Val, maxTable))
		case http2.SettingMaxFrameSize:
			h.from.maxFrame.Store(max(h.from.maxFrame.Load(), min(s.Val, 1<<24-1)))
		case http2.SettingInitialWindowSize:
			h.other(h).setInitial(int64(s.Val))
		}
	}
}

// setInitial records how much the receiver accepts on each stream from now on. It does not apply to deliveries, which
// have other receivers.
func (h *half) setInitial(n int64) {
	k := &h.credit
	k.mu.Lock()
	less := k.initial - n
	k.mu.Unlock()
	k.setInitial(n)
	h.flushSoon()
	if h != h.up || less <= 0 {
		return
	}
	for _, s := range h.all(0) {
		s.mu.Lock()
		if s.delivery != nil && !s.asked {
			k.grant(s.id, less)
		}
		s.mu.Unlock()
	}
}

// moreCredit handles a WINDOW_UPDATE, which concerns data in the other direction. It reports whether the frame must
// pass unmodified.
func (h *half) moreCredit(fh http2.FrameHeader, payload []byte) bool {
	n := int64(uint32(payload[0])<<24|uint32(payload[1])<<16|uint32(payload[2])<<8|uint32(payload[3])) &^ (1 << 31)
	back := h.other(h)
	if n == 0 || n > maxWindow-back.credit.atFirst(fh.StreamID) { // which is an error: RFC 9113 section 6.9
		letGo(h)
		if n == 0 {
			return true
		}
	}
	if fh.StreamID == 0 {
		left := back.credit.allowed(n)
		back.flushSoon()
		if left < n && left > 0 {
			h.to.out.bytes = appendCredit(h.to.out.bytes, 0, left)
		}
		return left == n
	}
	if back.bodyAllowed(fh.StreamID, n) || h.credit.lateCredit(fh.StreamID, n) {
		return false
	}
	s := h.streamOf(fh.StreamID)
	return s == nil || !s.isOurs()
}

// reset records that an end cancels a stream: RFC 9113 section 6.4. It reports whether to tell the other end.
func (h *half) reset(fh http2.FrameHeader, payload []byte) bool {
	held := h.credit.unseen(fh.StreamID)
	if h.credit.completes(fh.StreamID, appendFrame(nil, fh.Type, fh.Flags, fh.StreamID, payload)) {
		if h == h.down {
			return false // the whole message has arrived, and is forwarded
		}
		held = true // and so does this frame, after it
	} else if resetHeld(h, fh, payload) {
		held = true
	} else {
		h.up.credit.drop(fh.StreamID)
		h.up.flushSoon() // data that has waited for its turn
	}
	h.down.credit.drop(fh.StreamID)
	s := h.streamOf(fh.StreamID)
	if s == nil {
		return !held
	}
	code := http2.ErrCode(uint32(payload[0])<<24 | uint32(payload[1])<<16 | uint32(payload[2])<<8 | uint32(payload[3]))
	f := relay.TransportError{
		Kind: relay.KindReset, Side: h.from.side, Detail: "the stream was reset: RST_STREAM with " + code.String(),
	}
	if h.from.side == relay.SideClient && (code == http2.ErrCodeCancel || code == http2.ErrCodeNo) {
		f.Kind = relay.KindClientLeft
		f.Detail = "the client canceled the stream before the answer was complete: RST_STREAM with " + code.String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.streamEnded(s, h.from.side, relay.EndReset)
	h.endBroken(s, f)
	return !s.ours && !held
}

// resetHeld forwards the beginning of a held message that its sender cancels, followed by the reset. It returns false
// if no part of the message is held here.
func resetHeld(h *half, fh http2.FrameHeader, payload []byte) bool {
	own := h.credit.bodyOf(fh.StreamID)
	if own == nil || own.hold == nil && !h.credit.unseen(fh.StreamID) || !h.breakBody(own, func() {
		own.follow(appendFrame(nil, fh.Type, fh.Flags, fh.StreamID, payload))
	}) {
		return false
	}
	h.flush(&h.to.out)
	return true
}

// goAway notes that an end accepts no more streams: RFC 9113 section 6.8. The client's streams that the agent will not
// process have ended.
func (h *half) goAway(from *end, payload []byte) {
	last := (uint32(payload[0])<<24 | uint32(payload[1])<<16 | uint32(payload[2])<<8 | uint32(payload[3])) &^ (1 << 31)
	code := http2.ErrCode(uint32(payload[4])<<24 | uint32(payload[5])<<16 | uint32(payload[6])<<8 | uint32(payload[7]))
	detail := "GOAWAY with " + code.String()
	if why := payload[8:]; len(why) > 0 {
		detail += " (" + shown(why) + ")"
	}
	f := relay.TransportError{Kind: relay.KindReset, Side: from.side, Detail: "the connection was closed: " + detail}
	if code != http2.ErrCodeNo {
		h.setCause(f)
	}
	if from.side == relay.SideClient {
		return
	}
	f.Detail = "the stream was not observed: " + detail
	given := h.all(last)
	for _, s := range given { // what the agent has sent nevertheless is forwarded
		if own := h.credit.bodyOf(s.id); own != nil && own.hold != nil {
			h.breakBody(own, func() {})
		}
	}
	h.flush(&h.to.out)
	for _, s := range given {
		s.mu.Lock()
		if s.delivery == nil {
			h.endBroken(s, f)
		}
		s.mu.Unlock()
	}
	h.mu.Lock()
	routed := h.lastRouted
	h.mu.Unlock()
	if routed > last { // those are not the agent's, and are looked at
		binary.BigEndian.PutUint32(payload, routed)
	}
}

// shown returns a peer's own text, shortened to fit on a line.
func shown(p []byte) string {
	const most = 200
	text := make([]byte, 0, most)
	for _, c := range p[:min(len(p), most)] {
		if c < ' ' || c > '~' {
			c = '?'
		}
		text = append(text, c)
	}
	return string(text)
}

// answerAlone answers a client's requests about the connection itself, if the agent is missing.
func (h *half) answerAlone(fh http2.FrameHeader, payload []byte) {
	const ack = http2.FlagSettingsAck // of PING, too
	switch {
	case fh.Flags&ack != 0:
	case fh.Type == http2.FrameSettings:
		h.from.out.post(func(o *outlet) { o.bytes = appendFrame(o.bytes, http2.FrameSettings, ack, 0, nil) })
	case fh.Type == http2.FramePing:
		said := bytes.Clone(payload)
		h.from.out.post(func(o *outlet) { o.bytes = appendFrame(o.bytes, http2.FramePing, ack, 0, said) })
	}
}
