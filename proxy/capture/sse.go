package capture

import "bytes"

// DefaultBlockLimit is the default for how many bytes of one block of an event stream are kept: 4 MiB.
const DefaultBlockLimit = 4 << 20

// A Splitter cuts the bytes of one event stream into blocks: runs of lines up to and including the blank line that
// dispatches them. A line ends with LF, CR or CRLF, in any mixture and across writes. Blocks depend only on the bytes,
// never on how they were split into writes, and the Raw bytes of all blocks, concatenated, are the stream, except for
// bytes beyond the limit.
//
// A blank line after another blank line is a separate block with K 0, like a block of comments.
//
// A block that ends with CR waits for the next byte, since an LF would still belong to it. If the line before also
// ended with a bare CR, as in a stream without LF, the block is returned at once; should an LF follow even then, it
// begins the next block, where ParseEvent treats it as a blank line.
//
// The zero value is ready to use. A Splitter is for one stream and one goroutine.
//
// Source: WHATWG HTML, server-sent events, "Parsing an event stream".
type Splitter struct {
	Limit int // bytes of a block that are kept; 0 means DefaultBlockLimit

	buf     []byte         // kept bytes of the block so far, without the current write
	dropped int64          // bytes of the block beyond the limit
	k       int            // number of the last event
	out     []Event        // what the write at hand has completed
	fields  []*EventFields // of those
	lines   []span         // complete, non-blank lines of the current block
	from    int            // where in the block the line at hand begins
	bom     int            // how many bytes of a byte order mark the stream began with; -1 once that is settled
	lineLen int            // bytes of the line so far, zero at its start
	any     bool           // the block has bytes
	text    bool           // the block has a line that is not blank
	field   bool           // the block has a line that is neither blank nor a comment
	bareCR  bool           // the previous line ended with a CR that no LF followed
	cr      crState        // what an LF would belong to if it came now
	done    bool           // the block is complete and waits for the LF that its last CR may bring
}

// maxSpans bounds the remembered lines of a block. If a block has more, its fields are parsed again.
const maxSpans = 256

// A span is a run of bytes of a block.
type span struct{ start, end int }

type crState uint8

const (
	noCR      crState = iota
	ownCR             // the byte before ended a line of this block
	foreignCR         // the byte before ended the block before, which has been handed out
)

// Write adds the next bytes of the stream and returns the blocks that they complete, usually none or one. The slice is
// valid until the next call; the Raw bytes in it are copies and belong to the caller. At is NotKnown. Write keeps no
// reference to p.
func (s *Splitter) Write(p []byte) []Event {
	s.out, s.fields = s.out[:0], s.fields[:0]
	start := 0       // of the bytes in p that belong to the block at hand
	lf, cr := -1, -1 // the next LF and CR in p at or after i, found once
	for i := 0; i < len(p); {
		if s.cr != noCR {
			i += s.afterCR(p[i])
			if s.done {
				s.emit(p[start:i])
				start = i
			}
			continue
		}
		lf, cr = next(p, '\n', lf, i), next(p, '\r', cr, i)
		end := min(lf, cr)
		s.line(p[i:end])
		if end == len(p) {
			break
		}
		i = end + 1
		s.endSpan(len(s.buf) + int(s.dropped) + end - start)
		s.endLine(p[end])
		if s.done && s.cr == noCR {
			s.emit(p[start:i])
			start = i
		} else if s.done && s.bareCR {
			s.emit(p[start:i])
			start = i
			s.cr = foreignCR
		}
	}
	s.keep(p[start:])
	return s.out
}

// Flush ends the stream. It returns the rest as the last block, or nothing. The block is Unterminated if no blank line
// dispatched its lines.
func (s *Splitter) Flush() []Event {
	s.out, s.fields = s.out[:0], s.fields[:0]
	s.endBOM()
	if s.any {
		s.emit(nil)
	}
	return s.out
}

// Fields returns the fields of block i from the last call of Write or Flush: the same as its Event.Fields, without
// parsing the block again. They belong to the caller.
func (s *Splitter) Fields(i int) *EventFields { return s.fields[i] }

// endSpan ends the line at hand at a place in the block.
func (s *Splitter) endSpan(at int) {
	if at > s.from && len(s.lines) <= maxSpans {
		s.lines = append(s.lines, span{s.from, at})
	}
	s.from = at + 1
}

// read returns the fields of the complete block, and forgets its lines.
func (s *Splitter) read(e *Event) *EventFields {
	f := &EventFields{Retry: NotKnown}
	if len(s.lines) > maxSpans {
		*f = e.Fields()
		s.lines, s.from = s.lines[:0], 0
		return f
	}
	start := 0
	if e.K <= 1 {
		f.BOM = bytes.HasPrefix(e.Raw, []byte(BOM))
	}
	if f.BOM {
		start = len(BOM)
	}
	if s.from < len(e.Raw) {
		s.lines = append(s.lines, span{s.from, len(e.Raw)})
	}
	for _, l := range s.lines {
		if at, end := max(l.start, start), min(l.end, len(e.Raw)); at < end {
			f.add(parseLine(e.Raw, at, end))
		}
	}
	s.lines, s.from = s.lines[:0], 0
	return f
}

// BOM is the byte order mark in UTF-8, with which a text may begin.
const BOM = "\xEF\xBB\xBF"

// TrimBOM returns data without a leading byte order mark.
func TrimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte(BOM)) }

// next returns the index of c in p at or after i, or len(p) if it is missing. at is the result of the previous call.
func next(p []byte, c byte, at, i int) int {
	if at >= i {
		return at
	}
	if n := bytes.IndexByte(p[i:], c); n >= 0 {
		return i + n
	}
	return len(p)
}

// afterCR examines the byte that follows a CR. It returns 1 if that byte is the LF of the same line end, otherwise 0.
func (s *Splitter) afterCR(c byte) int {
	own := s.cr == ownCR
	s.cr = noCR
	if c != '\n' {
		s.bareCR = own
		return 0
	}
	s.any = true
	s.from++
	return 1
}

// line notes bytes of a line, without its end.
func (s *Splitter) line(p []byte) {
	if len(p) == 0 {
		return
	}
	s.any = true
	for s.bom >= 0 && len(p) > 0 && p[0] == BOM[s.bom] {
		p = p[1:]
		if s.bom++; s.bom == len(BOM) {
			s.bom = -1
		}
	}
	if len(p) == 0 {
		return
	}
	s.endBOM()
	s.text = true
	if s.lineLen == 0 && p[0] != ':' {
		s.field = true
	}
	s.lineLen += len(p)
}

// endBOM ends the search for a byte order mark. A part of one is the beginning of a line.
func (s *Splitter) endBOM() {
	if s.bom > 0 {
		s.text, s.field, s.lineLen = true, true, s.bom
	}
	s.bom = -1
}

// endLine notes the byte that ends a line.
func (s *Splitter) endLine(c byte) {
	s.endBOM()
	s.any = true
	s.done = s.lineLen == 0
	s.lineLen = 0
	s.cr = noCR
	if c == '\r' {
		s.cr = ownCR
	} else {
		s.bareCR = false
	}
}

// keep adds bytes to the block, as far as the limit lets it.
func (s *Splitter) keep(p []byte) {
	n := min(len(p), s.room())
	s.buf = append(s.buf, p[:n]...)
	s.dropped += int64(len(p) - n)
}

func (s *Splitter) room() int {
	limit := s.Limit
	if limit <= 0 {
		limit = DefaultBlockLimit
	}
	return max(0, limit-len(s.buf))
}

// emit hands out the block that ends with tail and begins the next one.
func (s *Splitter) emit(tail []byte) {
	n := min(len(tail), s.room())
	raw := make([]byte, len(s.buf)+n)
	copy(raw[copy(raw, s.buf):], tail[:n])
	e := Event{
		At: NotKnown, Raw: raw, Dropped: s.dropped + int64(len(tail)-n),
		Unterminated: !s.done && s.text,
	}
	if s.field {
		s.k++
		e.K = s.k
	}
	s.out, s.fields = append(s.out, e), append(s.fields, s.read(&e))
	if cap(s.buf) > 64<<10 {
		s.buf = nil // releases the memory of a large event while the stream stays open
	}
	s.buf, s.dropped = s.buf[:0], 0
	s.any, s.text, s.field, s.bareCR, s.done = false, false, false, false, false
	s.cr, s.lineLen = noCR, 0
}
