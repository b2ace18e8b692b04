package h2

import (
	"encoding/binary"

	"golang.org/x/net/http2"
)

// Sizes of frames: RFC 9113 sections 4.1, 4.2 and 6.5.2.
const (
	frameHead    = 9       // bytes before the payload
	minFrameSize = 1 << 14 // that every receiver takes
)

// preface is what a client begins with: RFC 9113 section 3.4.
const preface = http2.ClientPreface

// parseHead reads the first nine bytes of a frame.
func parseHead(b []byte) http2.FrameHeader {
	return http2.FrameHeader{
		Length: uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]),
		Type:   http2.FrameType(b[3]), Flags: http2.Flags(b[4]),
		StreamID: binary.BigEndian.Uint32(b[5:]) &^ (1 << 31),
	}
}

// appendHead appends the first nine bytes of a frame to out.
func appendHead(out []byte, kind http2.FrameType, flags http2.Flags, stream uint32, length int) []byte {
	out = append(out, byte(length>>16), byte(length>>8), byte(length), byte(kind), byte(flags))
	return binary.BigEndian.AppendUint32(out, stream)
}

// appendFrame appends a whole frame to out.
func appendFrame(out []byte, kind http2.FrameType, flags http2.Flags, stream uint32, payload []byte) []byte {
	return append(appendHead(out, kind, flags, stream, len(payload)), payload...)
}

// appendCredit appends a WINDOW_UPDATE to out: RFC 9113 section 6.9.
func appendCredit(out []byte, stream uint32, n int64) []byte {
	const most = 1<<31 - 1
	for ; n > 0; n -= most {
		out = appendHead(out, http2.FrameWindowUpdate, 0, stream, 4)
		out = binary.BigEndian.AppendUint32(out, uint32(min(n, most)))
	}
	return out
}

// appendReset appends a RST_STREAM to out: RFC 9113 section 6.4.
func appendReset(out []byte, stream uint32, code http2.ErrCode) []byte {
	return binary.BigEndian.AppendUint32(appendHead(out, http2.FrameRSTStream, 0, stream, 4), uint32(code))
}

// appendGoAway appends a GOAWAY to out: RFC 9113 section 6.8.
func appendGoAway(out []byte, last uint32, code http2.ErrCode, why string) []byte {
	out = appendHead(out, http2.FrameGoAway, 0, 0, 8+len(why))
	out = binary.BigEndian.AppendUint32(out, last)
	out = binary.BigEndian.AppendUint32(out, uint32(code))
	return append(out, why...)
}

// unpad removes the padding from a payload, and returns its length. It returns false if the padding is longer than the
// payload: RFC 9113 sections 6.1 and 6.2.
func unpad(fh http2.FrameHeader, payload []byte) (rest []byte, padding int, ok bool) {
	if fh.Flags&http2.FlagDataPadded == 0 { // one bit, whatever the frame
		return payload, 0, true
	}
	if len(payload) == 0 || int(payload[0]) >= len(payload) {
		return nil, 0, false
	}
	padding = int(payload[0])
	return payload[1 : len(payload)-padding], padding, true
}
