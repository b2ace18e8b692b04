package h2

import (
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// undecodable is a header block that no decoder takes: RFC 7541 section 6.1 forbids the index 0. What cannot be decoded
// here goes on as that, since its bytes could be other fields in the receiver's table.
const undecodable = 0x80

// addBlock deals with a frame that carries a header block, or a part of one. It returns false if the frame is to pass
// as it came.
func (h *half) addBlock(fh http2.FrameHeader, payload []byte) bool {
	r := &h.blocks
	if fh.Type != http2.FrameContinuation {
		fragment, padding, ok := unpad(fh, payload)
		before := 0
		switch {
		case fh.Type == http2.FramePushPromise:
			before = 4
		case fh.Flags&http2.FlagHeadersPriority != 0:
			before = 5
		}
		if !ok || before > len(fragment) || fh.StreamID == 0 {
			r.lost = true
			return false
		}
		r.begin(fh, fragment[:before], padding, h.to.table.Load())
		payload = fragment[before:]
		h.blockBegun()
	} else if !r.under() {
		r.lost = true
		return false
	}
	last := fh.Flags&http2.FlagHeadersEndHeaders != 0
	decoded := r.add(payload, last)
	if r.exceeds() {
		h.abandon("a header block is longer than this proxy takes (RFC 9113 section 10.5.1)")
		return true
	}
	if !last {
		return true
	}
	r.stream = 0
	b := &r.block
	if !decoded {
		h.lostBlock(b)
		return true
	}
	if b.head.Type == http2.FramePushPromise {
		h.forward(b)
		return true
	}
	h.does.fields(b)
	return true
}

// blockBegun starts the time that a header block of the client may take.
func (h *half) blockBegun() {
	if limit := h.cfg.HeadTimeout; limit > 0 && h.from == h.client {
		h.blockSince = time.Now()
		h.wakeAt(h.blockSince.Add(limit))
	}
}

// fieldsBehind has a header block follow a body that it must not follow so (RFC 9113 section 8.1).
func (h *half) fieldsBehind(own *body, b *block) bool {
	late := block{head: b.head, before: b.before, padding: b.padding, list: slices.Clone(b.list), resized: b.resized}
	return h.breakBody(own, func() {
		own.extra += b.size
		own.behind = append(own.behind, func(o *outlet) { o.blockOf(&late) })
	})
}

// forward sends a block on as it is in the receiver's terms.
func (h *half) forward(b *block) { h.to.out.blockOf(b) }

// blockOf adds a block as it is in the terms of the receiver.
func (o *outlet) blockOf(b *block) {
	o.resized = b.resized
	o.fields(b.head.Type, b.head.Flags, b.head.StreamID, b.before, b.padding, b.list)
	o.resized = false
}

// breakBlock begins at the receiver the block that is under way here, since a frame comes that must not stand in it:
// RFC 9113 section 6.10. The receiver sees what is wrong, and no part of the block.
func (h *half) breakBlock() {
	b := &h.blocks.block
	h.blocks.stream, h.blocks.lost = 0, true
	flags := b.head.Flags &^ (http2.FlagHeadersEndHeaders | http2.FlagHeadersPadded)
	h.to.out.bytes = appendFrame(h.to.out.bytes, b.head.Type, flags, b.head.StreamID, b.before)
}

// lostBlock sends a block on that cannot be decoded, for the receiver to say so.
func (h *half) lostBlock(b *block) {
	h.to.out.fragments(b.head.Type, b.head.Flags, b.head.StreamID, b.before, b.padding, []byte{undecodable})
	h.malformed(b.head.StreamID, "a header block that cannot be decoded (RFC 9113 section 4.3)")
}
