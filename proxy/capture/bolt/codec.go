package bolt

import (
	"encoding/binary"
	"fmt"
	"time"

	"a2atap/proxy/capture"
)

// The tags of the kinds of steps in format 1. A tag is never given a second meaning; docs/capture-format.md has what
// follows each.
const (
	tagOpened byte = 1 + iota
	tagRequestBody
	tagRequestEnd
	tagInformational
	tagResponseHead
	tagResponseBody
	tagResponseEvent
	tagResponseEnd
	tagFact
	tagClosed
	tagLost
)

// lengthSize is the size of the length in front of each step in a block: fixed, so that it can be filled in after the
// step was written in place.
const lengthSize = 4

// maxStep bounds a step, as weighed by weight, which is more than its encoding takes. The recorder cuts events and
// heads far below it.
const maxStep = 32 << 20

// appendStep appends a step to a block: its length, tag, exchange, offset and content. Its arrival number follows from
// its place and its keys go to the index, so neither is written. On an error b is returned as it was.
func appendStep(b []byte, s *capture.Step) ([]byte, error) {
	if n := weight(s); n > maxStep {
		return b, fmt.Errorf("a step of %d bytes is over the limit of %d", n, maxStep)
	}
	start := len(b)
	e := encoder{append(b, 0, 0, 0, 0)}
	if err := e.step(s); err != nil {
		return b, err
	}
	binary.LittleEndian.PutUint32(e.b[start:], uint32(len(e.b)-start-lengthSize))
	return e.b, nil
}

// An encoder appends values to b. Its counterpart is decoder, method by method.
type encoder struct{ b []byte }

func (e *encoder) step(s *capture.Step) error {
	switch what := s.What.(type) {
	case capture.Opened:
		e.begin(tagOpened, s)
		e.opened(&what)
	case capture.RequestBody:
		e.begin(tagRequestBody, s)
		e.piece(what.Data, what.Dropped, what.Decoded)
	case capture.RequestEnd:
		e.begin(tagRequestEnd, s)
		e.signed(what.Size)
		e.bytes(what.Trailer)
	case capture.Informational:
		e.begin(tagInformational, s)
		e.bytes(what.Head)
	case capture.ResponseHead:
		e.begin(tagResponseHead, s)
		e.bytes(what.Head)
		e.flag(what.Stream)
	case capture.ResponseBody:
		e.begin(tagResponseBody, s)
		e.piece(what.Data, what.Dropped, what.Decoded)
	case capture.ResponseEvent:
		e.begin(tagResponseEvent, s)
		e.event(&what.Event)
	case capture.ResponseEnd:
		e.begin(tagResponseEnd, s)
		e.signed(what.Size)
		e.bytes(what.Trailer)
	case capture.Fact:
		e.begin(tagFact, s)
		e.fact(&what)
	case capture.Closed:
		e.begin(tagClosed, s)
		e.closed(&what)
	case capture.Lost:
		e.begin(tagLost, s)
		e.signed(what.Exchanges)
		e.signed(what.Bytes)
		e.text(what.Reason)
	default:
		return fmt.Errorf("format %d has no kind of step for %T", Format, s.What)
	}
	return nil
}

func (e *encoder) begin(tag byte, s *capture.Step) {
	e.b = append(e.b, tag)
	e.number(s.Seq)
	e.signed(int64(s.Offset))
}

func (e *encoder) opened(o *capture.Opened) {
	e.b = append(e.b, o.ID[:]...)
	e.number(o.Conn)
	e.instant(o.Started)
	e.peer(&o.Client)
	e.peer(&o.Agent)
	e.bytes(o.Head)
}

func (e *encoder) piece(data []byte, dropped int64, decoded bool) {
	e.bytes(data)
	e.signed(dropped)
	e.flag(decoded)
}

func (e *encoder) event(v *capture.Event) {
	e.signed(int64(v.K))
	e.bytes(v.Raw)
	e.signed(v.Dropped)
	e.flag(v.Unterminated)
}

func (e *encoder) fact(f *capture.Fact) {
	e.peer(&f.Client)
	e.number(uint64(len(f.Rewrites)))
	for i := range f.Rewrites {
		e.text(f.Rewrites[i].Place)
		e.text(f.Rewrites[i].Was)
		e.text(f.Rewrites[i].Now)
	}
	e.text(f.Note)
	e.flag(f.Replayed)
}

func (e *encoder) closed(c *capture.Closed) {
	e.flag(c.Fault != nil)
	if c.Fault != nil {
		e.text(c.Fault.Kind)
		e.text(c.Fault.Side)
		e.text(c.Fault.Detail)
	}
	e.flag(c.Interrupted)
	e.signed(c.Dropped)
}

func (e *encoder) peer(p *capture.Peer) {
	e.text(p.Name)
	e.text(p.Addr)
	e.text(p.URL)
	e.text(p.How)
}

func (e *encoder) number(n uint64) { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) signed(n int64)  { e.b = binary.AppendVarint(e.b, n) }

// instant writes seconds and nanoseconds apart, since nanoseconds alone do not reach the zero time.
func (e *encoder) instant(t time.Time) {
	e.signed(t.Unix())
	e.number(uint64(t.Nanosecond()))
}

// bytes writes the length plus one, and 0 for nil: a body that was empty is not a body that was not kept.
func (e *encoder) bytes(p []byte) {
	if p == nil {
		e.number(0)
		return
	}
	e.number(uint64(len(p)) + 1)
	e.b = append(e.b, p...)
}

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) flag(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}
