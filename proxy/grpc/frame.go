package grpc

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"a2atap/proxy/budget"
)

// PrefixSize is the length of each message's prefix: the compression flag and the message's length.
const PrefixSize = 5

// A Frame is one message as gRPC carries it in a body.
//
// Source: gRPC over HTTP2, "Length-Prefixed-Message".
type Frame struct {
	Compressed bool
	Reserved   bool // the first byte is not defined by the protocol
	Length     uint32
	Message    []byte // Length bytes, or fewer if it is cut
}

// Whole reports whether the message is complete.
func (f *Frame) Whole() bool { return uint64(len(f.Message)) == uint64(f.Length) }

// Cut splits the first frame from a body. The results share the body's memory. It reports false if not even the prefix
// is complete.
func Cut(body []byte) (f Frame, rest []byte, ok bool) {
	if len(body) < PrefixSize {
		return f, body, false
	}
	f.Compressed, f.Reserved = body[0] == 1, body[0] > 1
	f.Length = binary.BigEndian.Uint32(body[1:])
	body = body[PrefixSize:]
	n := min(uint64(f.Length), uint64(len(body)))
	f.Message = body[:n:n]
	return f, body[n:], true
}

// AppendFrame adds a message as gRPC carries it, not compressed.
func AppendFrame(body, message []byte) []byte {
	body = binary.BigEndian.AppendUint32(append(body, 0), uint32(len(message)))
	return append(body, message...)
}

// The reasons why the message in a frame cannot be read.
var (
	ErrCutOff   = errors.New("the message is cut off")
	ErrReserved = errors.New("the first byte of the message is neither 0 nor 1")
	ErrUnnamed  = errors.New("the message is marked as compressed, but grpc-encoding names no compression")
	ErrEncoding = errors.New("the message has an unknown compression")
	ErrTooLong  = errors.New("the message is too long")
)

// Plain returns the uncompressed message, given the grpc-encoding of its head. Without an encoding no message may be
// compressed, and receivers refuse one with the flag. The error is ErrTooLong if the message unpacks to more than
// budget.ReadBytes, which are then not kept.
//
// Source: gRPC over HTTP2, "Compressed-Flag" and "Message-Encoding".
func (f *Frame) Plain(encoding string) ([]byte, error) {
	return f.plain(encoding, budget.ReadBytes, func() error { return nil })
}

// PlainHeld is Plain in the path of the traffic: see Codec.ReadHeld.
func (f *Frame) PlainHeld(encoding string) ([]byte, error) {
	turn := heldTurn()
	defer turn.end()
	return f.plain(encoding, budget.HeldReadBytes, turn.begin)
}

// plain is Plain with another limit. It calls long before it allocates memory for a long message.
func (f *Frame) plain(encoding string, limit int64, long func() error) ([]byte, error) {
	switch {
	case !f.Whole():
		return nil, ErrCutOff
	case f.Reserved:
		return nil, ErrReserved
	case !f.Compressed:
		return plainLong(f.Message, long)
	}
	var open func(io.Reader) (io.Reader, error)
	switch encoding = strings.ToLower(strings.TrimSpace(encoding)); encoding {
	case "", "identity":
		return nil, ErrUnnamed
	case "gzip":
		open = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		open = func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
	default:
		return nil, ErrEncoding
	}
	return unpack(f.Message, encoding, open, limit, long)
}

// plainLong returns a message that is not compressed.
func plainLong(message []byte, long func() error) ([]byte, error) {
	if len(message) > longMessage {
		return message, long()
	}
	return message, nil
}

// longMessage is the length up to which a message is decompressed directly. A longer one is first decompressed to learn
// its length: a growing buffer would take several times as much memory.
const longMessage = 64 << 10

// unpack returns a message without its compression.
func unpack(
	packed []byte, encoding string, open func(io.Reader) (io.Reader, error), limit int64, long func() error,
) ([]byte, error) {
	r, err := open(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("it is not in %s: %w", encoding, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, longMessage+1))
	if err != nil {
		return nil, fmt.Errorf("it is not in %s: %w", encoding, err)
	}
	if len(text) <= longMessage {
		return text, nil
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(r, limit-longMessage))
	switch size := longMessage + 1 + rest; {
	case err != nil:
		return nil, fmt.Errorf("it is not in %s: %w", encoding, err)
	case size > limit:
		return nil, ErrTooLong
	default:
		if err := long(); err != nil {
			return nil, err
		}
		text = make([]byte, size)
	}
	if r, err = open(bytes.NewReader(packed)); err == nil {
		_, err = io.ReadFull(r, text)
	}
	if err != nil {
		return nil, fmt.Errorf("it is not in %s: %w", encoding, err)
	}
	return text, nil
}

// A turn lets one long message be read at a time.
type turn struct {
	of   func() (done func()) // waits for the turn; returns a nil done if the wait failed
	done func()
}

// heldTurn returns the turn of a message in the path of the traffic.
func heldTurn() *turn {
	return &turn{of: func() func() {
		done, _ := budget.StartHeldRead()
		return done
	}}
}

// begin waits for the turn. The error is ErrBusy if it does not come.
func (t *turn) begin() error {
	if t.done = t.of(); t.done == nil {
		return ErrBusy
	}
	return nil
}

// end ends the turn, if it began.
func (t *turn) end() {
	if t.done != nil {
		t.done()
	}
}
