package layout

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/s2"

	"a2atap/proxy/capture"
)

// Sizes of blocks. A block ends before the step that would take it over BlockTarget; a single larger step (a long
// event) is a block by itself. Bodies are cut into pieces of at most PieceSize.
const (
	BlockTarget = 128 << 10
	PieceSize   = 64 << 10
	MaxBlock    = maxStep + 64
)

// The ways in which a block's steps are packed: the first byte of its value.
const (
	packedPlain byte = iota
	packedS2
)

// BlockHeader is the size of the header before the packed steps: the packing method, and a CRC-32C of the packed bytes,
// little endian. The database has no checksums below its meta pages.
const BlockHeader = 1 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC returns the checksum of packed bytes, CRC-32C.
func CRC(packed []byte) uint32 { return crc32.Checksum(packed, castagnoli) }

// A Block is a run of steps as stored: consecutive in arrival, from first on.
type Block struct {
	First uint64         // arrival number of its first step
	Value []byte         // header and packed steps; or
	Steps []capture.Step // the steps as they were appended, which belong to whom the block was handed out
}

// Weight is about how many bytes the steps of a block take.
func (b Block) Weight() int {
	n := 0
	for i := range b.Steps {
		n += Weight(&b.Steps[i]) + b.Steps[i].Parsed.Size()
	}
	return n
}

// Seal packs the encoded steps of a block, which must not be empty. It appends the value to room if there is space, and
// returns the extended room. The block does not share memory with raw.
func Seal(room []byte, first uint64, raw []byte) (b Block, after []byte) {
	need := BlockHeader + s2.MaxEncodedLen(len(raw))
	if cap(room)-len(room) < need {
		room = make([]byte, 0, max(need, RoomSize))
	}
	value := room[len(room):][:need]
	packed := s2.Encode(value[BlockHeader:], raw)
	if len(packed) < len(raw) {
		value[0] = packedS2
	} else {
		value[0] = packedPlain
		packed = value[BlockHeader : BlockHeader+len(raw)]
		copy(packed, raw)
	}
	binary.LittleEndian.PutUint32(value[1:], CRC(packed))
	n := BlockHeader + len(packed)
	return Block{First: first, Value: value[:n:n]}, room[:len(room)+n]
}

// RoomSize is how much room for blocks is allocated at once: about the size of a commit under load.
const RoomSize = 1 << 20

// Unseal returns the encoded steps of a block, in memory of their own.
func (b Block) Unseal() ([]byte, error) {
	raw, err := b.Unpack()
	if err != nil {
		return nil, fmt.Errorf("read the block at arrival %d: %w", b.First, err)
	}
	return raw, nil
}

// Packed returns the packed steps, after verifying their checksum.
func (b Block) Packed() ([]byte, error) {
	if len(b.Value) < BlockHeader {
		return nil, ErrDamaged
	}
	packed := b.Value[BlockHeader:]
	if got, want := CRC(packed), binary.LittleEndian.Uint32(b.Value[1:]); got != want {
		return nil, fmt.Errorf("checksum is %08x, recorded as %08x: %w", got, want, ErrDamaged)
	}
	if way := b.Value[0]; way > packedS2 {
		return nil, fmt.Errorf("format %d has no compression %d", Format, way)
	}
	return packed, nil
}

// Unpack is Unseal with errors that do not name the block.
func (b Block) Unpack() ([]byte, error) {
	packed, err := b.Packed()
	if err != nil {
		return nil, err
	}
	if b.Value[0] == packedPlain {
		return append([]byte(nil), packed...), nil
	}
	n, err := s2.DecodedLen(packed)
	if err != nil || n > MaxBlock {
		return nil, ErrDamaged
	}
	raw, err := s2.Decode(make([]byte, n), packed)
	if err != nil {
		return nil, ErrDamaged
	}
	return raw, nil
}

// Split takes the first encoded step off the front of an unsealed block.
func Split(raw []byte) (step, rest []byte, err error) {
	if len(raw) < lengthSize {
		return nil, nil, ErrDamaged
	}
	n := uint64(binary.LittleEndian.Uint32(raw))
	raw = raw[lengthSize:]
	if n > uint64(len(raw)) {
		return nil, nil, ErrDamaged
	}
	return raw[:n:n], raw[n:], nil
}

// Cut yields the step, or the pieces of it when it carries a body over PieceSize. The pieces share the step's bytes.
// The last piece has the count of dropped bytes, the first has the keys.
func Cut(s capture.Step, yield func(capture.Step)) {
	switch what := s.What.(type) {
	case capture.RequestBody:
		for len(what.Data) > PieceSize {
			piece := capture.RequestBody{Data: what.Data[:PieceSize:PieceSize], Decoded: what.Decoded}
			what.Data = what.Data[PieceSize:]
			s = cutOff(s, piece, what, yield)
		}
	case capture.ResponseBody:
		for len(what.Data) > PieceSize {
			piece := capture.ResponseBody{Data: what.Data[:PieceSize:PieceSize], Decoded: what.Decoded}
			what.Data = what.Data[PieceSize:]
			s = cutOff(s, piece, what, yield)
		}
	}
	yield(s)
}

// cutOff yields the step with a piece of its content, and returns the step with the rest.
func cutOff(s capture.Step, piece, rest capture.What, yield func(capture.Step)) capture.Step {
	s.What = piece
	yield(s)
	s.What, s.Keys = rest, nil
	return s
}

// ErrNoBlock returns the error for a block that should begin at an arrival number, and is missing.
func ErrNoBlock(first uint64) error {
	return fmt.Errorf("the block at arrival %d is missing: %w", first, ErrDamaged)
}

// Last returns the arrival number of the last step of a block.
func (b Block) Last() (uint64, error) {
	raw, err := b.Unseal()
	if err != nil {
		return 0, err
	}
	next := b.First
	for ; len(raw) > 0; next++ {
		if _, raw, err = Split(raw); err != nil {
			return 0, fmt.Errorf("read the step at arrival %d: %w", next, err)
		}
	}
	if next == b.First {
		return 0, fmt.Errorf("the block at arrival %d is empty: %w", b.First, ErrDamaged)
	}
	return next - 1, nil
}
