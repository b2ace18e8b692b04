package layout

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
	TagResponseEvent
	tagResponseEnd
	tagFact
	tagClosed
	tagLost
)

// lengthSize is the size of the length in front of each step in a block. The size is fixed, so that the length can be
// filled in after the step was written in place.
const lengthSize = 4

// maxStep bounds a step, as weighed by weight, which is more than its encoding takes. The recorder cuts events and
// heads far below it.
const maxStep = 32 << 20

// AppendStep appends a step to a block: its length, tag, exchange, offset and content. It omits the arrival number,
// which follows from the step's position, and keys, which are in the index. On an error it returns b unchanged.
func AppendStep(b []byte, s *capture.Step) ([]byte, error) {
	if n := Weight(s); n > maxStep {
		return b, fmt.Errorf("a step of %d bytes is over the limit of %d", n, maxStep)
	}
	start := len(b)
	e := Encoder{append(b, 0, 0, 0, 0)}
	if err := e.step(s); err != nil {
		return b, err
	}
	binary.LittleEndian.PutUint32(e.B[start:], uint32(len(e.B)-start-lengthSize))
	return e.B, nil
}

// An Encoder appends values to b. Its counterpart is Decoder, method by method.
type Encoder struct{ B []byte }

func (e *Encoder) step(s *capture.Step) error {
	switch what := s.What.(type) {
	case capture.Opened:
		e.begin(tagOpened, s)
		e.opened(&what)
	case capture.RequestBody:
		e.begin(tagRequestBody, s)
		e.piece(what.Data, what.Dropped, what.Decoded)
	case capture.RequestEnd:
		e.begin(tagRequestEnd, s)
		e.Signed(what.Size)
		e.Bytes(what.Trailer)
	case capture.Informational:
		e.begin(tagInformational, s)
		e.Bytes(what.Head)
	case capture.ResponseHead:
		e.begin(tagResponseHead, s)
		e.Bytes(what.Head)
		e.Flag(what.Stream)
	case capture.ResponseBody:
		e.begin(tagResponseBody, s)
		e.piece(what.Data, what.Dropped, what.Decoded)
	case capture.ResponseEvent:
		e.begin(TagResponseEvent, s)
		e.event(&what.Event)
	case capture.ResponseEnd:
		e.begin(tagResponseEnd, s)
		e.Signed(what.Size)
		e.Bytes(what.Trailer)
	case capture.Fact:
		e.begin(tagFact, s)
		e.fact(&what)
	case capture.Closed:
		e.begin(tagClosed, s)
		e.closed(&what)
	case capture.Lost:
		e.begin(tagLost, s)
		e.Signed(what.Exchanges)
		e.Signed(what.Bytes)
		e.Text(what.Reason)
		if what.Crash != nil {
			e.Instant(what.Crash.After)
			e.Signed(int64(what.Crash.Within))
		}
	default:
		return fmt.Errorf("format %d has no kind of step for %T", Format, s.What)
	}
	return nil
}

func (e *Encoder) begin(tag byte, s *capture.Step) {
	e.B = append(e.B, tag)
	e.Number(s.Seq)
	e.Signed(int64(s.Offset))
}

func (e *Encoder) opened(o *capture.Opened) {
	e.B = append(e.B, o.ID[:]...)
	e.Number(o.Conn)
	e.Instant(o.Started)
	e.peer(&o.Client)
	e.peer(&o.Agent)
	e.Bytes(o.Head)
	if o.Stream != 0 {
		e.Number(uint64(o.Stream))
	}
}

func (e *Encoder) piece(data []byte, dropped int64, decoded bool) {
	e.Bytes(data)
	e.Signed(dropped)
	e.Flag(decoded)
}

func (e *Encoder) event(v *capture.Event) {
	e.Signed(int64(v.K))
	e.Bytes(v.Raw)
	e.Signed(v.Dropped)
	e.Flag(v.Unterminated)
}

func (e *Encoder) fact(f *capture.Fact) {
	e.peer(&f.Client)
	e.Number(uint64(len(f.Rewrites)))
	for i := range f.Rewrites {
		e.Text(f.Rewrites[i].Place)
		e.Text(f.Rewrites[i].Was)
		e.Text(f.Rewrites[i].Now)
	}
	e.Text(f.Note)
	e.Flag(f.Replayed)
	if f.End.Side != "" {
		e.Text(f.End.Side)
		e.Text(f.End.How)
		e.Signed(int64(f.End.At))
		e.Signed(f.End.Request)
		e.Signed(f.End.Response)
	}
}

func (e *Encoder) closed(c *capture.Closed) {
	e.Flag(c.Fault != nil)
	if c.Fault != nil {
		e.Text(c.Fault.Kind)
		e.Text(c.Fault.Side)
		e.Text(c.Fault.Detail)
	}
	e.Flag(c.Interrupted)
	e.Signed(c.Dropped)
}

func (e *Encoder) peer(p *capture.Peer) {
	e.Text(p.Name)
	e.Text(p.Addr)
	e.Text(p.URL)
	e.Text(p.How)
}

// Number writes a number that is not negative, and Signed any.
func (e *Encoder) Number(n uint64) { e.B = binary.AppendUvarint(e.B, n) }
func (e *Encoder) Signed(n int64)  { e.B = binary.AppendVarint(e.B, n) }

// Instant writes seconds and nanoseconds apart, since nanoseconds alone do not reach the zero time.
func (e *Encoder) Instant(t time.Time) {
	e.Signed(t.Unix())
	e.Number(uint64(t.Nanosecond()))
}

// Bytes writes the length plus one, and 0 for nil: a body that was empty is not a body that was not kept.
func (e *Encoder) Bytes(p []byte) {
	if p == nil {
		e.Number(0)
		return
	}
	e.Number(uint64(len(p)) + 1)
	e.B = append(e.B, p...)
}

// Text writes a text behind its length.
func (e *Encoder) Text(s string) {
	e.Number(uint64(len(s)))
	e.B = append(e.B, s...)
}

// Flag writes a byte, 1 for true.
func (e *Encoder) Flag(v bool) {
	if v {
		e.B = append(e.B, 1)
	} else {
		e.B = append(e.B, 0)
	}
}

// Weight is about how many bytes a step takes in memory, and at least how many its encoding takes.
func Weight(s *capture.Step) int {
	const fixed = 128
	n := fixed
	for _, k := range s.Keys {
		n += 32 + len(k.Kind) + len(k.Value)
	}
	switch what := s.What.(type) {
	case capture.Opened:
		n += len(what.Head) + textSize(&what.Client) + textSize(&what.Agent)
	case capture.RequestBody:
		n += len(what.Data)
	case capture.RequestEnd:
		n += len(what.Trailer)
	case capture.Informational:
		n += len(what.Head)
	case capture.ResponseHead:
		n += len(what.Head)
	case capture.ResponseBody:
		n += len(what.Data)
	case capture.ResponseEvent:
		n += len(what.Event.Raw)
	case capture.ResponseEnd:
		n += len(what.Trailer)
	case capture.Fact:
		for _, r := range what.Rewrites {
			n += fixed + len(r.Place) + len(r.Was) + len(r.Now)
		}
		n += len(what.Note) + textSize(&what.Client) + len(what.End.Side) + len(what.End.How)
	case capture.Closed:
		if what.Fault != nil {
			n += len(what.Fault.Kind) + len(what.Fault.Side) + len(what.Fault.Detail)
		}
	case capture.Lost:
		n += len(what.Reason)
	}
	return n
}

func textSize(p *capture.Peer) int { return len(p.Name) + len(p.Addr) + len(p.URL) + len(p.How) }

// Format is the version of the file format that this package writes. docs/capture-format.md describes it.
const Format = 4
