package relay

import "math"

// A pieceKind tells what a run of body bytes is.
type pieceKind uint8

const (
	pieceFrame   pieceKind = iota // framing: chunk sizes, their extensions, line ends
	pieceData                     // the body itself
	pieceTrailer                  // field lines after the last chunk, without the closing blank line
)

// maxChunkLine is the maximum length in bytes of a chunk size line, including extensions: RFC 9112 section 7.1.1
// requires a limit.
const maxChunkLine = 16 << 10

// chunkState is what a chunked body expects next. RFC 9112 section 7.1.
type chunkState uint8

const (
	chunkSizeFirst   chunkState = iota // the first digit of a size
	chunkSize                          // more digits, or what ends them
	chunkBlank                         // blanks after the size
	chunkExt                           // an extension, up to CR
	chunkSizeLF                        // the LF of a size line
	chunkData                          // data
	chunkDataCR                        // the CR after data
	chunkDataLF                        // the LF after data
	trailerLineFirst                   // the first byte of a trailer line, or the closing blank line
	trailerLine                        // the rest of a trailer line
	trailerLF                          // the LF of a trailer line
	trailerEndLF                       // the LF of the closing blank line
	chunkEnd                           // nothing: the body is complete
)

// chunks is the state of a chunked body. A value with only the trailer limit set is the initial state. Copies are
// independent, so a copy can look ahead.
type chunks struct {
	state   chunkState
	left    int64 // data bytes left in the current chunk, while its size is read the size so far
	line    int   // bytes of the current size line, or of the trailer section
	trailer int   // how many bytes the trailer section may have
}

// next takes the longest stretch of one kind from the beginning of p, which is not empty.
func (c *chunks) next(p []byte) (n int, kind pieceKind, err error) {
	switch {
	case c.state == chunkData:
		n = int(min(c.left, int64(len(p))))
		if c.left -= int64(n); c.left == 0 {
			c.state = chunkDataCR
		}
		return n, pieceData, nil
	case c.state == trailerLineFirst && p[0] != '\r' && p[0] != '\n', c.state == trailerLine, c.state == trailerLF:
		n, err = c.trailerLines(p)
		return n, pieceTrailer, err
	}
	for n < len(p) && c.state != chunkData && c.state != chunkEnd {
		if c.state == trailerLineFirst && p[n] != '\r' && p[n] != '\n' {
			break
		}
		if err = c.frame(p[n]); err != nil {
			break
		}
		n++
	}
	return n, pieceFrame, err
}

// frame takes one byte of framing.
func (c *chunks) frame(b byte) error {
	switch c.state {
	case chunkSizeFirst, chunkSize, chunkBlank, chunkExt, chunkSizeLF:
		if c.line++; c.line > maxChunkLine {
			return errChunkLine
		}
		return c.sizeLine(b)
	case chunkDataCR:
		c.state = chunkDataLF
		return lineEnd(b, '\r')
	case chunkDataLF:
		c.state = chunkSizeFirst
		return lineEnd(b, '\n')
	case trailerLineFirst:
		c.state = trailerEndLF
		if b == '\n' { // a bare LF, allowed in a section of field lines
			c.state = chunkEnd
		}
		return nil
	default: // trailerEndLF
		if b != '\n' {
			return errBareCR
		}
		c.state = chunkEnd
		return nil
	}
}

// sizeLine takes one byte of a size line.
func (c *chunks) sizeLine(b byte) error {
	if digit, ok := hexDigit(b); ok && c.state <= chunkSize {
		if c.left > math.MaxInt64>>4 {
			return errChunkHuge
		}
		c.left, c.state = c.left<<4|int64(digit), chunkSize
		return nil
	}
	switch {
	case c.state == chunkSizeLF:
		c.line = 0
		c.state = chunkData
		if c.left == 0 {
			c.state = trailerLineFirst
		}
		return lineEnd(b, '\n')
	case c.state == chunkSizeFirst:
		return errChunkSize
	case b == '\r':
		c.state = chunkSizeLF
	case c.state == chunkExt:
		if b < ' ' && b != '\t' {
			return errChunkExt
		}
	case b == ';':
		c.state = chunkExt
	case b == ' ' || b == '\t': // written by servers that reserve room for a size: tolerated everywhere
		c.state = chunkBlank
	default:
		return errChunkSize
	}
	return nil
}

// trailerLines takes bytes of the trailer section up to its closing blank line.
func (c *chunks) trailerLines(p []byte) (n int, err error) {
	for ; n < len(p); n++ {
		b := p[n]
		if c.line++; c.line > c.trailer {
			return n, errTrailerHuge
		}
		switch {
		case c.state == trailerLF && b != '\n':
			return n, errBareCR
		case b == '\n':
			if c.state == trailerLineFirst {
				return n, nil
			}
			c.state = trailerLineFirst
		case b == '\r':
			if c.state == trailerLineFirst {
				return n, nil
			}
			c.state = trailerLF
		case b == 0:
			return n, errNUL
		default:
			c.state = trailerLine
		}
	}
	return n, nil
}

func lineEnd(got, want byte) error {
	if got != want {
		return errChunkEnd
	}
	return nil
}

func hexDigit(b byte) (digit byte, ok bool) {
	switch {
	case '0' <= b && b <= '9':
		return b - '0', true
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		return b | 0x20 - 'a' + 10, true
	}
	return 0, false
}
