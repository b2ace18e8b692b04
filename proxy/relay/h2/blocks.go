package h2

import (
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// undecodable is a header block that every decoder rejects: RFC 7541 section 6.1 forbids the index 0. It replaces
// blocks that the relay cannot decode: with the receiver's table, their bytes could mean other fields.
const undecodable = 0x80

// addBlock handles a frame with a header block, or a part of one. It returns false if the frame must pass unmodified.
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
		h.abandon("a header block is longer than this proxy accepts (RFC 9113 section 10.5.1)")
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

// fieldsBehind queues a header block behind a body that it must not follow (RFC 9113 section 8.1).
func (h *half) fieldsBehind(own *body, b *block) bool {
	late := block{head: b.head, before: b.before, padding: b.padding, list: slices.Clone(b.list), resized: b.resized}
	return h.breakBody(own, func() {
		own.extra += b.size
		own.behind = append(own.behind, func(o *outlet) { o.blockOf(&late) })
	})
}

// forward sends a block in the receiver's encoding.
func (h *half) forward(b *block) { h.to.out.blockOf(b) }

// blockOf adds a block in the receiver's encoding.
func (o *outlet) blockOf(b *block) {
	o.resized = b.resized
	o.fields(b.head.Type, b.head.Flags, b.head.StreamID, b.before, b.padding, b.list)
	o.resized = false
}

// breakBlock forwards the beginning of the current block, since the next frame must not interrupt a block: RFC 9113
// section 6.10. So the receiver notices the error, and gets no part of the block.
func (h *half) breakBlock() {
	letGo(h)
	b := &h.blocks.block
	h.blocks.stream, h.blocks.lost = 0, true
	flags := b.head.Flags &^ (http2.FlagHeadersEndHeaders | http2.FlagHeadersPadded)
	h.to.out.bytes = appendFrame(h.to.out.bytes, b.head.Type, flags, b.head.StreamID, b.before)
}

// lostBlock forwards a block that cannot be decoded, so that the receiver reports the error.
func (h *half) lostBlock(b *block) {
	letGo(h)
	h.to.out.fragments(b.head.Type, b.head.Flags, b.head.StreamID, b.before, b.padding, []byte{undecodable})
	h.malformed(b.head.StreamID, "a header block that cannot be decoded (RFC 9113 section 4.3)")
}
