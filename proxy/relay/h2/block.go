package h2

import (
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Sizes of tables of header fields: RFC 7541 section 4.2.
const (
	initialTable = 4 << 10  // of each end, and the most that we use
	maxTable     = 64 << 10 // that an end may have us remember
)

// undecodable is a header block that no decoder takes: RFC 7541 section 6.1 forbids the index 0. What cannot be decoded
// here goes on as that, since its bytes could be other fields in the receiver's table.
const undecodable = 0x80

// maxFragments bounds the frames of one header block, which may be empty.
const maxFragments = 1000

// A block is a header block that is whole.
type block struct {
	head    http2.FrameHeader // of its first frame
	before  []byte            // a priority, or the stream that is promised
	padding int
	list    fieldList
	size    int  // of the list
	tooLong bool // it has more fields than are kept in list
}

// endsStream reports whether nothing follows the block on its stream.
func (b *block) endsStream() bool {
	return b.head.Type == http2.FrameHeaders && b.head.Flags&http2.FlagHeadersEndStream != 0
}

// A blockReader puts header blocks together and decodes them.
type blockReader struct {
	dec       *hpack.Decoder
	limit     int    // of the size of a list, in bytes
	stream    uint32 // of the block under way; 0 if none is
	lost      bool   // a block could not be decoded, nor can those after it
	block     block
	encoded   int // bytes of the block so far
	fragments int
}

func newBlockReader(limit int) blockReader {
	return blockReader{dec: hpack.NewDecoder(initialTable, nil), limit: limit}
}

// under reports whether a block is under way, so that only CONTINUATION may come.
func (r *blockReader) under() bool { return r.stream != 0 }

// begin begins a block. The first frame's payload has no padding any more.
func (r *blockReader) begin(fh http2.FrameHeader, before []byte, padding int, table uint32) {
	r.block = block{head: fh, before: append([]byte(nil), before...), padding: padding, list: r.block.list[:0]}
	r.stream, r.encoded, r.fragments = fh.StreamID, 0, 0
	r.dec.SetAllowedMaxDynamicTableSize(table)
	r.dec.SetEmitEnabled(true)
	r.dec.SetEmitFunc(r.emit)
}

// emit takes a field. Those beyond the limit are only decoded, for what they do to the table.
func (r *blockReader) emit(f hpack.HeaderField) {
	b := &r.block
	if b.size += len(f.Name) + len(f.Value) + len(": \r\n"); b.size > r.limit {
		b.tooLong = true
		r.dec.SetEmitEnabled(false)
		return
	}
	b.list = append(b.list, f)
}

// add decodes a fragment. It returns false if the block cannot be decoded.
func (r *blockReader) add(fragment []byte, last bool) bool {
	r.encoded += len(fragment)
	r.fragments++
	if r.lost {
		return false
	}
	_, err := r.dec.Write(fragment)
	if err == nil && last {
		err = r.dec.Close()
	}
	r.lost = err != nil
	return !r.lost
}

// exceeds reports whether the block under way is longer than any may be.
func (r *blockReader) exceeds() bool { return r.encoded > r.limit || r.fragments > maxFragments }

// addBlock deals with a frame that carries a header block, or a part of one. It returns false if the frame is to pass as it
// came.
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

// forward sends a block on as it is in the receiver's terms.
func (h *half) forward(b *block) {
	h.to.out.fields(b.head.Type, b.head.Flags, b.head.StreamID, b.before, b.padding, b.list)
}

// breakBlock begins at the receiver the block that is under way here, since a frame comes that must not stand in it: RFC
// 9113 section 6.10. The receiver sees what is wrong, and no part of the block.
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
