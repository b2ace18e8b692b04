package h2

import (
	"encoding/binary"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// maxFragments bounds the frames of one header block, which may be empty.
const maxFragments = 1000

// A block is a complete header block.
type block struct {
	head    http2.FrameHeader // of its first frame
	before  []byte            // a priority, or the stream that is promised
	padding int
	list    fieldList
	size    int  // of the list, as RFC 7541 section 4.1 counts it
	tooLong bool // it has more fields than are kept in list
	resized bool // it changes the size of the table behind its first field: RFC 7541 section 4.2
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
	lost      bool   // a block could not be decoded, so later ones cannot be either
	block     block
	begun     []byte // fragments of a block that has several
	encoded   int    // bytes of the block so far
	fragments int
}

func newBlockReader(limit int) blockReader {
	return blockReader{dec: hpack.NewDecoder(initialTable, nil), limit: limit}
}

// under reports whether a block is in progress, so that only CONTINUATION may follow.
func (r *blockReader) under() bool { return r.stream != 0 }

// begin begins a block. The first frame's payload has no padding any more.
func (r *blockReader) begin(fh http2.FrameHeader, before []byte, padding int, table uint32) {
	room := r.block.list[:0]
	if cap(room) > maxListRoom {
		room = nil
	}
	r.block = block{head: fh, before: append([]byte(nil), before...), padding: padding, list: room}
	r.stream, r.encoded, r.fragments, r.begun = fh.StreamID, 0, 0, nil
	r.dec.SetAllowedMaxDynamicTableSize(table)
	r.dec.SetEmitEnabled(true)
	r.dec.SetEmitFunc(r.emit)
}

// maxListRoom is the number of fields whose room is kept from one block to the next.
const maxListRoom = 1000

// emit receives a field. Fields beyond the limit are only decoded, for their effect on the table.
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
	switch {
	case last && len(r.begun) == 0:
		r.block.resized = resizesLate(fragment)
	case r.encoded <= r.limit:
		if r.begun = append(r.begun, fragment...); last {
			r.block.resized = resizesLate(r.begun)
		}
	}
	_, err := r.dec.Write(fragment)
	if err == nil && last {
		err = r.dec.Close()
	}
	r.lost = err != nil
	return !r.lost
}

// resizesLate reports whether a header block changes the size of the table after its first field, which RFC 7541
// section 4.2 forbids. Decoders with an empty table accept it.
func resizesLate(b []byte) bool {
	fields := false
	for len(b) > 0 {
		first, strings := b[0], 0
		prefix := 7 // an indexed field
		switch {
		case first&0x80 != 0:
		case first&0xc0 == 0x40:
			prefix, strings = 6, 1
		case first&0xe0 == 0x20:
			if fields {
				return true
			}
			prefix = 5
		default:
			prefix, strings = 4, 1
		}
		index, rest := readInt(b, prefix)
		if b = rest; strings > 0 {
			if index == 0 {
				strings++
			}
			fields = true
		} else {
			fields = fields || first&0x80 != 0
		}
		for range strings {
			var n uint64
			if n, b = readInt(b, 7); n > uint64(len(b)) {
				return false
			}
			b = b[n:]
		}
	}
	return false
}

// readInt reads an integer: RFC 7541 section 5.1. An incomplete integer is 0, with an empty rest.
func readInt(b []byte, prefix int) (n uint64, rest []byte) {
	if len(b) == 0 {
		return 0, nil
	}
	most := uint64(1)<<prefix - 1
	if n = uint64(b[0]) & most; n < most {
		return n, b[1:]
	}
	for i, shift := 1, 0; i < len(b) && shift < 35; i, shift = i+1, shift+7 {
		n += uint64(b[i]&0x7f) << shift
		if b[i]&0x80 == 0 {
			return n, b[i+1:]
		}
	}
	return 0, nil
}

// appendResize appends a change of the size of the table: RFC 7541 section 6.3.
func appendResize(out []byte, size uint32) []byte {
	const most = 1<<5 - 1
	if size < most {
		return append(out, 0x20|byte(size))
	}
	return binary.AppendUvarint(append(out, 0x20|most), uint64(size-most))
}

// exceeds reports whether the current block is longer than any block may be.
func (r *blockReader) exceeds() bool { return r.encoded > r.limit || r.fragments > maxFragments }
