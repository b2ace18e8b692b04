package bolt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/s2"

	"a2atap/proxy/capture"
)

// Sizes of blocks. A block ends before the step that would take it over blockTarget; a single larger step (a long
// event) is a block by itself. Bodies are cut into pieces of at most pieceSize.
const (
	blockTarget = 128 << 10
	pieceSize   = 64 << 10
	maxBlock    = maxStep + 64
)

// The ways in which a block's steps are packed: the first byte of its value.
const (
	packedPlain byte = iota
	packedS2
)

// blockHeader is the size of what stands before the packed steps: the way of packing, and a CRC-32C of the packed
// bytes, little endian. The database has no checksums of its own below its meta pages.
const blockHeader = 1 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crcOf(packed []byte) uint32 { return crc32.Checksum(packed, castagnoli) }

// A block is a run of steps as stored: consecutive in arrival, from first on.
type block struct {
	first uint64         // arrival number of its first step
	value []byte         // header and packed steps; or
	steps []capture.Step // the steps as they were appended, which belong to whom the block was handed out
}

// weight is about how many bytes the steps of a block take.
func (b block) weight() int {
	n := 0
	for i := range b.steps {
		n += weight(&b.steps[i]) + b.steps[i].Parsed.Size()
	}
	return n
}

// seal packs the encoded steps of a block, which must not be empty. The value stands behind what is in room, as long as
// there is space; seal returns room with it. It does not share memory with raw.
func seal(room []byte, first uint64, raw []byte) (b block, after []byte) {
	need := blockHeader + s2.MaxEncodedLen(len(raw))
	if cap(room)-len(room) < need {
		room = make([]byte, 0, max(need, roomSize))
	}
	value := room[len(room):][:need]
	packed := s2.Encode(value[blockHeader:], raw)
	if len(packed) < len(raw) {
		value[0] = packedS2
	} else {
		value[0] = packedPlain
		packed = value[blockHeader : blockHeader+len(raw)]
		copy(packed, raw)
	}
	binary.LittleEndian.PutUint32(value[1:], crcOf(packed))
	n := blockHeader + len(packed)
	return block{first: first, value: value[:n:n]}, room[:len(room)+n]
}

// roomSize is how much room for blocks is made at once: about what a commit under load takes.
const roomSize = 1 << 20

// unseal returns the encoded steps of a block, in memory of their own.
func (b block) unseal() ([]byte, error) {
	raw, err := b.unpack()
	if err != nil {
		return nil, fmt.Errorf("read the block at arrival %d: %w", b.first, err)
	}
	return raw, nil
}

// packed returns the packed steps, if they are what they were.
func (b block) packed() ([]byte, error) {
	if len(b.value) < blockHeader {
		return nil, errDamaged
	}
	packed := b.value[blockHeader:]
	if got, want := crcOf(packed), binary.LittleEndian.Uint32(b.value[1:]); got != want {
		return nil, fmt.Errorf("checksum is %08x, recorded as %08x: %w", got, want, errDamaged)
	}
	if way := b.value[0]; way > packedS2 {
		return nil, fmt.Errorf("format %d has no way %d of packing", Format, way)
	}
	return packed, nil
}

func (b block) unpack() ([]byte, error) {
	packed, err := b.packed()
	if err != nil {
		return nil, err
	}
	if b.value[0] == packedPlain {
		return append([]byte(nil), packed...), nil
	}
	n, err := s2.DecodedLen(packed)
	if err != nil || n > maxBlock {
		return nil, errDamaged
	}
	raw, err := s2.Decode(make([]byte, n), packed)
	if err != nil {
		return nil, errDamaged
	}
	return raw, nil
}

// split takes the first encoded step off the front of an unsealed block.
func split(raw []byte) (step, rest []byte, err error) {
	if len(raw) < lengthSize {
		return nil, nil, errDamaged
	}
	n := uint64(binary.LittleEndian.Uint32(raw))
	raw = raw[lengthSize:]
	if n > uint64(len(raw)) {
		return nil, nil, errDamaged
	}
	return raw[:n:n], raw[n:], nil
}

// cut yields the step, or the pieces of it when it carries a body over pieceSize. The pieces share the step's bytes;
// what was dropped after them stands in the last, the keys in the first.
func cut(s capture.Step, yield func(capture.Step)) {
	switch what := s.What.(type) {
	case capture.RequestBody:
		for len(what.Data) > pieceSize {
			s.What = capture.RequestBody{Data: what.Data[:pieceSize:pieceSize], Decoded: what.Decoded}
			yield(s)
			what.Data, s.Keys = what.Data[pieceSize:], nil
		}
		s.What = what
	case capture.ResponseBody:
		for len(what.Data) > pieceSize {
			s.What = capture.ResponseBody{Data: what.Data[:pieceSize:pieceSize], Decoded: what.Decoded}
			yield(s)
			what.Data, s.Keys = what.Data[pieceSize:], nil
		}
		s.What = what
	}
	yield(s)
}

// weight is about how many bytes a step takes in memory, and at least how many its encoding takes.
func weight(s *capture.Step) int {
	const fixed = 128
	n := fixed
	for _, k := range s.Keys {
		n += 32 + len(k.Kind) + len(k.Value)
	}
	switch what := s.What.(type) {
	case capture.Opened:
		n += len(what.Head) + textSize(&what.Client) + textSize(&what.Agent)
	case capture.RequestBody:
		n += len(what.Data)
	case capture.RequestEnd:
		n += len(what.Trailer)
	case capture.Informational:
		n += len(what.Head)
	case capture.ResponseHead:
		n += len(what.Head)
	case capture.ResponseBody:
		n += len(what.Data)
	case capture.ResponseEvent:
		n += len(what.Event.Raw)
	case capture.ResponseEnd:
		n += len(what.Trailer)
	case capture.Fact:
		for _, r := range what.Rewrites {
			n += fixed + len(r.Place) + len(r.Was) + len(r.Now)
		}
		n += len(what.Note) + textSize(&what.Client)
	case capture.Closed:
		if what.Fault != nil {
			n += len(what.Fault.Kind) + len(what.Fault.Side) + len(what.Fault.Detail)
		}
	case capture.Lost:
		n += len(what.Reason)
	}
	return n
}

func textSize(p *capture.Peer) int { return len(p.Name) + len(p.Addr) + len(p.URL) + len(p.How) }

func errNoBlock(first uint64) error {
	return fmt.Errorf("the block at arrival %d is missing: %w", first, errDamaged)
}

// last returns the arrival number of the last step of a block.
func (b block) last() (uint64, error) {
	raw, err := b.unseal()
	if err != nil {
		return 0, err
	}
	next := b.first
	for ; len(raw) > 0; next++ {
		if _, raw, err = split(raw); err != nil {
			return 0, fmt.Errorf("read the step at arrival %d: %w", next, err)
		}
	}
	if next == b.first {
		return 0, fmt.Errorf("the block at arrival %d is empty: %w", b.first, errDamaged)
	}
	return next - 1, nil
}
