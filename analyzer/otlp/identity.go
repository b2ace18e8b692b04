package otlp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/google/uuid"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"a2atap/proxy/capture"
)

// An identity is the place of an exchange in a trace.
type identity struct {
	trace  [16]byte
	span   [8]byte
	parent [8]byte // zero if missing
	flags  uint32  // of OTLP
	cause  Parent  // the exchange that caused it
	remote bool    // trace and parent come from the request's traceparent

	made    bool // its span was made, so its cause is known
	started time.Time
	service string // that answered it
	context string // of A2A, that it is about
}

// Bits of a span's flags beyond those of W3C Trace Context.
const (
	parentKnown  = uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK)
	parentRemote = uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
)

// identify works out the place of an exchange, given its id and the head of its request.
func (s *Spans) identify(seq uint64, id uuid.UUID, head *capture.Head, depth int) identity {
	if known, ok := s.known.Get(seq); ok {
		return known
	}
	seed := s.seed(seq, id)
	i := identity{cause: s.o.Parent(seq)}
	copy(i.span[:], derive("span", seed))
	cause, known := s.causeOf(seq, i.cause, depth)
	if trace, parent, flags, ok := traceparent(head.Fields.Values("traceparent")); ok {
		i.trace, i.parent, i.remote = trace, parent, true
		i.flags = uint32(flags) | parentKnown | parentRemote
	} else if known {
		i.trace, i.parent, i.flags = cause.trace, cause.span, parentKnown
	} else {
		copy(i.trace[:], derive("trace", seed))
	}
	s.known.Put(seq, i)
	return i
}

// maxDepth bounds how many causes are followed upward if none of them is remembered.
const maxDepth = 64

// causeOf returns the place of the exchange that caused another.
func (s *Spans) causeOf(seq uint64, cause Parent, depth int) (identity, bool) {
	if cause.Exchange == 0 || cause.Exchange >= seq || depth >= maxDepth {
		return identity{}, false
	}
	if known, ok := s.known.Get(cause.Exchange); ok {
		return known, true
	}
	opened, ok := s.o.Opened(cause.Exchange)
	if !ok {
		return identity{}, false
	}
	head := capture.ParseRequestHead(opened.Head)
	return s.identify(cause.Exchange, opened.ID, &head, depth+1), true
}

// seed returns the input for the ids of an exchange: its own id, which is the same in every copy, or else the capture
// and the number.
func (s *Spans) seed(seq uint64, id uuid.UUID) []byte {
	if id != uuid.Nil {
		return id[:]
	}
	return binary.BigEndian.AppendUint64(append([]byte{}, s.o.Capture[:]...), seq)
}

// derive derives the bytes of an id from its parts. They are never all zero, which would be an invalid id.
func derive(kind string, parts ...[]byte) []byte {
	h := sha256.New()
	h.Write([]byte("a2atap " + kind))
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	sum := h.Sum(nil)
	sum[0] |= 1
	return sum
}

// traceparent returns the valid traceparent in a header's values, if any.
//
// Source: W3C Trace Context (2021), 3.2 "Traceparent Header".
func traceparent(values []string) (trace [16]byte, parent [8]byte, flags byte, ok bool) {
	if len(values) != 1 {
		return trace, parent, 0, false
	}
	const size = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	text := strings.Trim(values[0], " \t")
	if len(text) < size || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return trace, parent, 0, false
	}
	var version, bits [1]byte
	for _, part := range []struct {
		to   []byte
		text string
	}{{version[:], text[:2]}, {trace[:], text[3:35]}, {parent[:], text[36:52]}, {bits[:], text[53:55]}} {
		if _, err := hex.Decode(part.to, []byte(part.text)); err != nil || strings.ToLower(part.text) != part.text {
			return [16]byte{}, [8]byte{}, 0, false
		}
	}
	rest := text[size:] // later versions may have more
	if version[0] == 0xff || version[0] == 0 && rest != "" || rest != "" && rest[0] != '-' ||
		trace == [16]byte{} || parent == [8]byte{} {
		return [16]byte{}, [8]byte{}, 0, false
	}
	return trace, parent, bits[0], true
}
