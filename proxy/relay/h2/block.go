package h2

import (
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// maxFragments bounds the frames of one header block, which may be empty.
const maxFragments = 1000

// A block is a header block that is whole.
type block struct {
	head    http2.FrameHeader // of its first frame
	before  []byte            // a priority, or the stream that is promised
	padding int
	list    fieldList
	size    int  // of the list, as RFC 7541 section 4.1 counts it
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
	room := r.block.list[:0]
	if cap(room) > maxListRoom {
		room = nil
	}
	r.block = block{head: fh, before: append([]byte(nil), before...), padding: padding, list: room}
	r.stream, r.encoded, r.fragments = fh.StreamID, 0, 0
	r.dec.SetAllowedMaxDynamicTableSize(table)
	r.dec.SetEmitEnabled(true)
	r.dec.SetEmitFunc(r.emit)
}

// maxListRoom is for how many fields room is kept from one block to the next.
const maxListRoom = 1000

// emit takes a field. Those beyond the limit are only decoded, for what they do to the table.
func (r *blockReader) emit(f hpack.HeaderField) {
	b := &r.block
	if b.size += int(f.Size()); b.size > r.limit {
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
