package h2

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

// A stream is an open exchange. The fields that mu does not guard do not change.
type stream struct {
	id uint32
	x  int // its number for the Observer

	isGRPC bool // it is a call of gRPC

	early atomic.Int64 // the client's extra credit for this answer, granted before the answer began

	mu         sync.Mutex // held while the Observer is called about it
	ours       bool       // the answer is the relay's own: data from either end is dropped from then on
	connect    bool       // it asks for a tunnel
	answered   bool       // the head of the final answer was there
	asked      bool       // the request is complete
	message    oneMessage // the request, if it is a call of gRPC
	answerDone bool       // the answer is complete
	heads      heads      // room for its header blocks
	faulted    bool       // its fault was reported
	ended      bool       // Ended was called
	unproven   bool       // the answer is complete, and it is not known yet whether the client had left

	clientEnded bool // the client had ended its part before the answer was complete
	late        *time.Timer
	delivery    *delivery // goes to the receiver of a Route, whose answer the relay passes on as its own; usually nil
}

// isOurs reports whether the answer of a stream is the relay's own.
func (s *stream) isOurs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ours
}

// A oneMessage tracks whether the body of a call is exactly one complete message: gRPC over HTTP2,
// "Length-Prefixed-Message".
type oneMessage struct {
	prefix [5]byte
	size   uint64 // bytes that passed
}

func (m *oneMessage) add(p []byte) {
	copy(m.prefix[min(m.size, uint64(len(m.prefix))):], p)
	m.size += uint64(len(p))
}

func (m *oneMessage) whole() bool {
	prefix := uint64(len(m.prefix))
	return m.size >= prefix && m.size-prefix == uint64(binary.BigEndian.Uint32(m.prefix[1:]))
}

// A dataFrame is the frame whose payload is being read.
type dataFrame struct {
	head    http2.FrameHeader
	stream  *stream // whose body the bytes belong to; nil for bytes that are not interpreted
	content int     // bytes still to come, before any padding
	dropped bool    // it is dropped
	own     *body   // it is sent under the relay's own flow control; usually nil
	behind  bool    // follows a broken body, unmodified
	garble  bool    // it must not be understood
}
