package h2

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
	"a2atap/proxy/scheme"
)

// run relays until the sender has ended its sending or the connection is broken.
func (h *half) run() {
	defer h.in.Release()
	for h.pass() && h.fill() {
	}
	h.endTurn()
	h.stopWaiting() // for what this end would have allowed
	h.credit.endRooms()
}

// fill reads once, and reports whether new bytes arrived.
func (h *half) fill() bool {
	for {
		err := h.in.Fill(h.from.Conn)
		switch {
		case err == nil:
			return true
		case errors.Is(err, os.ErrDeadlineExceeded):
			if h.rewake(); h.releaseLate(time.Now()) && h.does.woken(time.Now()) {
				continue
			}
			return false
		}
		h.endTurn()
		if err == io.EOF { //nolint:errorlint // as Read returns it
			passRest(h)
		}
		h.does.failed(err)
		return false
	}
}

// endTurn gives the turn that is kept while a frame is not complete.
func (h *half) endTurn() {
	if h.within {
		h.within = false
		h.to.out.give()
	}
}

// isOurs reports whether a read failed because the connection was closed here.
func isOurs(err error) bool { return errors.Is(err, net.ErrClosed) }

// pass forwards the data that has arrived, and reports whether more may follow.
func (h *half) pass() bool {
	out := &h.to.out
	if !h.within {
		out.take()
		out.sayPosted()
	}
	for h.step() {
	}
	var err error
	if h.within = h.left > 0 && !h.opaque; h.within {
		out.write()
		err = out.failed
	} else {
		err = out.give()
	}
	h.does.written()
	return (err == nil || h.does.unsent(err)) && !h.over.Load()
}

// step forwards a frame, or the part that may pass alone. It returns false if it needs more bytes.
func (h *half) step() bool {
	b := h.in.Unread()
	switch {
	case len(b) == 0 || h.over.Load():
		return false
	case h.opaque:
		h.to.out.bytes = append(h.to.out.bytes, b...)
		h.in.Consume(len(b))
		return false
	case h.left > 0:
		n := min(h.left, len(b))
		h.piece(b[:n])
		h.left -= n
		h.in.Consume(n)
		if h.left == 0 {
			h.endPiece()
		}
		return true
	case answersInTLS(h, b):
		h.opaque = true
		return true
	case len(b) < frameHead:
		return false
	case h.isHTTP1(b):
		h.opaque = true
		return true
	}
	fh := parseHead(b)
	need, whole := h.need(fh)
	if len(b) < need {
		return false
	}
	if whole && int(fh.Length) > h.blocks.limit {
		h.abandon("a frame is longer than this proxy accepts (RFC 9113 section 10.5)")
		return false
	}
	if whole {
		h.frame(fh, b[:need])
		h.in.Consume(need)
		return true
	}
	if h.strays.frame(fh, b[:min(len(b), frameHead+int(fh.Length))]) {
		letGo(h)
	}
	h.begin(fh, b[frameHead:need])
	h.in.Consume(need)
	h.left = frameHead + int(fh.Length) - need
	if h.left == 0 {
		h.endPiece()
	}
	return true
}

// answersInTLS reports whether an agent answers the preface with a TLS record. The client gets to see that.
func answersInTLS(h *half, b []byte) bool {
	if h.begun || h.from.side != relay.SideAgent || !scheme.IsTLSRecord(b) {
		return false
	}
	h.begun = true
	f := relay.SpeaksTLS()
	if h.cfg.Advise != nil {
		h.cfg.Advise(f, h.cfg.Authority) // which the user reads
	}
	f.Status = 0
	h.setCause(f)
	answersNobody(h, b, "the agent answers in TLS")
	return true
}

// isHTTP1 reports whether an agent answers the preface in HTTP/1, as agents without HTTP/2 do. The client receives that
// answer.
func (h *half) isHTTP1(b []byte) bool {
	if h.begun || h.from.side != relay.SideAgent {
		return false
	}
	h.begun = true
	if !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return false
	}
	h.setCause(relay.TransportError{
		Kind: relay.KindNotHTTP, Side: relay.SideAgent,
		Detail: "the agent answers HTTP/2 with HTTP/1: it does not support HTTP/2 here (RFC 9113 section 3.3)",
	})
	answersNobody(h, b, "the agent answers in HTTP/1 (RFC 9113 section 3.3)")
	return true
}

// answersNobody reports bytes of an agent that speaks another protocol, if they belong to no request.
func answersNobody(h *half, b []byte, why string) {
	if h.lastAsked() == 0 {
		h.strays.report(b, why)
	}
}

// need returns how many bytes of a frame must have arrived before the relay handles it, and whether that is the whole
// frame. Frames that the relay interprets must be complete. All others pass as they arrive: DATA, once the length of
// its padding is known; unknown frames; and frames that are larger than the receiver accepts.
func (h *half) need(fh http2.FrameHeader) (n int, whole bool) {
	switch fh.Type {
	case http2.FrameData:
		if fh.Flags&http2.FlagDataPadded != 0 && fh.Length > 0 {
			return frameHead + 1, false
		}
		return frameHead, false
	case http2.FrameHeaders, http2.FramePushPromise, http2.FrameContinuation, http2.FrameSettings, http2.FrameRSTStream,
		http2.FrameWindowUpdate, http2.FrameGoAway:
		if fh.Length <= h.to.maxFrame.Load() {
			return frameHead + min(int(fh.Length), h.blocks.limit), true
		}
	case http2.FramePing:
		if h.alone && fh.Length <= minFrameSize { // which is to be answered here
			return frameHead + int(fh.Length), true
		}
	}
	return frameHead, false
}

// begin forwards the head of a frame whose payload passes piece by piece, and the first bytes of the payload.
func (h *half) begin(fh http2.FrameHeader, first []byte) {
	h.data = dataFrame{}
	if h.blocks.under() {
		h.breakBlock()
	}
	switch fh.Type {
	case http2.FrameData:
		if fh.StreamID != 0 {
			h.beginData(fh, first)
			return
		}
	case http2.FrameHeaders, http2.FramePushPromise, http2.FrameContinuation:
		h.blocks.lost = true // its effect on the table is not known, and the receiver accepts no frame this large
		h.data.garble = true
		letGo(h)
		h.strays.report(nil, "a header block that is larger than its receiver accepts (RFC 9113 section 4.2)")
	}
	h.to.out.bytes = append(appendHead(h.to.out.bytes, fh.Type, fh.Flags, fh.StreamID, int(fh.Length)), first...)
}

// piece forwards bytes of the current payload.
func (h *half) piece(p []byte) {
	switch {
	case h.data.stream != nil:
		h.dataPiece(p)
	case h.data.garble:
		for range p {
			h.to.out.bytes = append(h.to.out.bytes, undecodable)
		}
	default:
		h.to.out.bytes = append(h.to.out.bytes, p...)
	}
}

// endPiece reports that the current payload is complete.
func (h *half) endPiece() {
	if h.data.stream != nil {
		h.endData()
	}
	h.data = dataFrame{}
	h.to.out.sayPosted()
}

// frame handles a whole frame, b, that the relay reads.
func (h *half) frame(fh http2.FrameHeader, b []byte) {
	payload := b[frameHead:]
	if h.strays.frame(fh, b) {
		letGo(h)
	}
	if h.blocks.under() && (fh.Type != http2.FrameContinuation || fh.StreamID != h.blocks.stream) {
		h.breakBlock()
	}
	if h.alone {
		h.answerAlone(fh, payload)
	}
	pass := true
	switch fh.Type {
	case http2.FrameHeaders, http2.FramePushPromise, http2.FrameContinuation:
		if pass = !h.addBlock(fh, payload); pass {
			letGo(h)
			h.strays.report(b, "a header block that is malformed (RFC 9113 sections 6.2 and 6.10)")
		}
	case http2.FrameSettings:
		h.settings(fh, payload)
		h.to.out.speak()
	case http2.FrameWindowUpdate:
		pass = len(payload) != 4 || h.moreCredit(fh, payload)
	case http2.FrameRSTStream:
		pass = len(payload) != 4 || h.reset(fh, payload)
	case http2.FrameGoAway:
		if len(payload) >= 8 && fh.StreamID == 0 {
			h.goAway(h.from, payload)
		}
	}
	if pass {
		h.to.out.bytes = append(h.to.out.bytes, b...)
	}
}
