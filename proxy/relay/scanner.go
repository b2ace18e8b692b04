package relay

// A Stretch classifies a run of bytes from an agent.
type Stretch uint8

// The stretches of an answer.
const (
	StretchNone    Stretch = iota // not enough bytes to decide
	StretchInterim                // the head of an interim answer, blank line included
	StretchHead                   // the head of the final answer, blank line included
	StretchUpgrade                // the head of an answer 101: what follows is another protocol
	StretchFraming                // of chunks
	StretchContent                // of the body
	StretchTrailer                // field lines behind a chunked body, without the closing blank line
)

// An AnswerScanner follows the framing of one answer in bytes that arrive piece by piece. It applies the relay's rules
// and changes no bytes. The zero value is ready to use, by one goroutine.
type AnswerScanner struct {
	ToHead bool // the request was HEAD, whose answer never has a body

	find   headFinder
	body   body
	inBody bool
}

// Next classifies the beginning of b, and returns the number of bytes of that kind, or 0 if it needs more bytes. The
// caller passes the remaining bytes again with the next call. The error reports a head that cannot be framed or a
// broken chunk (RFC 9112 sections 6.3 and 7.1).
func (s *AnswerScanner) Next(b []byte) (n int, what Stretch, err error) {
	if s.inBody {
		return s.next(b)
	}
	n, err = s.find.within(b, DefaultHeadLimit)
	if n == 0 || err != nil {
		return 0, StretchNone, err
	}
	m := methodOther
	if s.ToHead {
		m = methodHead
	}
	status, body, err := scanAnswer(b[:n], m, DefaultHeadLimit)
	switch {
	case err != nil:
		return 0, StretchNone, err
	case status == 101:
		return n, StretchUpgrade, nil
	case status < 200:
		s.find = headFinder{}
		return n, StretchInterim, nil
	}
	s.body, s.inBody = body, true
	return n, StretchHead, nil
}

func (s *AnswerScanner) next(b []byte) (n int, what Stretch, err error) {
	n, kind, err := s.body.next(b)
	switch {
	case n == 0:
		return 0, StretchNone, err
	case kind == pieceData:
		what = StretchContent
	case kind == pieceTrailer:
		what = StretchTrailer
	default:
		what = StretchFraming
	}
	return n, what, err
}

// Done reports whether the answer is complete. An answer that lasts until the agent closes is never complete.
func (s *AnswerScanner) Done() bool { return s.inBody && s.body.done() }

// Chunked reports whether the body is chunked.
func (s *AnswerScanner) Chunked() bool { return s.inBody && s.body.framing == framedChunked }

// UntilClose reports whether the answer lasts until the agent closes.
func (s *AnswerScanner) UntilClose() bool { return s.inBody && s.body.framing == framedClose }
