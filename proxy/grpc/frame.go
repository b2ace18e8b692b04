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
)

// PrefixSize is the length of what stands before each message: whether it is compressed, and how long it is.
const PrefixSize = 5

// maxMessage bounds what a compressed message may come to.
const maxMessage = 64 << 20

// A Frame is one message as gRPC carries it in a body.
//
// Source: gRPC over HTTP2, "Length-Prefixed-Message".
type Frame struct {
	Compressed bool
	Reserved   bool // the first byte is none that the protocol has
	Length     uint32
	Message    []byte // as long as Length says, or what there is of it
}

// Whole reports whether the message is there to its end.
func (f *Frame) Whole() bool { return uint64(len(f.Message)) == uint64(f.Length) }

// Cut takes the first frame off a body. What it returns lies in the body. It reports false where not even its prefix is
// whole.
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
	ErrUnnamed  = errors.New("the message has the flag of a compressed one, and grpc-encoding names no compression")
	ErrEncoding = errors.New("the message is compressed in a way that is not known here")
	ErrTooLong  = errors.New("the message is too long to be read")
)

// Plain returns the message without its compression, which is the grpc-encoding of its head. Without one no message may
// be compressed, and receivers refuse one that has the flag.
//
// Source: gRPC over HTTP2, "Compressed-Flag" and "Message-Encoding".
func (f *Frame) Plain(encoding string) ([]byte, error) {
	switch {
	case !f.Whole():
		return nil, ErrCutOff
	case f.Reserved:
		return nil, ErrReserved
	case !f.Compressed:
		return f.Message, nil
	}
	var plain io.Reader
	var err error
	switch encoding = strings.ToLower(strings.TrimSpace(encoding)); encoding {
	case "", "identity":
		return nil, ErrUnnamed
	case "gzip":
		plain, err = gzip.NewReader(bytes.NewReader(f.Message))
	case "deflate":
		plain, err = zlib.NewReader(bytes.NewReader(f.Message))
	default:
		return nil, ErrEncoding
	}
	if err != nil {
		return nil, fmt.Errorf("it is not in %s: %w", encoding, err)
	}
	text, err := io.ReadAll(io.LimitReader(plain, maxMessage+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is not in %s: %w", encoding, err)
	case len(text) > maxMessage:
		return nil, ErrTooLong
	}
	return text, nil
}
