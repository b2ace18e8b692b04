package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// errDamaged is what a decoder says of bytes that end too early or hold impossible values.
var errDamaged = errors.New("the bytes are damaged")

// A decoder takes values from the front of b, in the order in which an encoder appended them. After its first error it
// returns zero values, so that callers look at err once, at the end. Bytes of any content are safe.
type decoder struct {
	b   []byte
	own bool // byte slices are copies; otherwise they point into b
	err error

	names names // nil if each text is to be a string of its own
}

// names are texts that occur in step after step, such as names of clients: each is one string for all steps.
type names map[string]string

// maxNames bounds how many texts are known, and maxName how long each is, in bytes.
const (
	maxNames = 1000
	maxName  = 256
)

func (n names) of(b []byte) string {
	if text, known := n[string(b)]; known {
		return text
	}
	text := string(b)
	if n != nil && len(b) <= maxName {
		if len(n) >= maxNames {
			clear(n)
		}
		n[text] = text
	}
	return text
}

// decodeStep decodes one step, without the length in front of it. With own its bytes are copies; otherwise they point
// into b.
func decodeStep(b []byte, own bool) (capture.Step, error) {
	d := decoder{b: b, own: own}
	return d.step()
}

func (d *decoder) step() (capture.Step, error) {
	tag := d.octet()
	s := capture.Step{Seq: d.number(), Offset: time.Duration(d.signed())}
	s.What = d.what(tag, s.Offset)
	if d.err == nil && len(d.b) != 0 {
		d.err = fmt.Errorf("%d bytes too many after the content: %w", len(d.b), errDamaged)
	}
	if d.err != nil {
		return capture.Step{}, fmt.Errorf("decode a step with tag %d: %w", tag, d.err)
	}
	return s, nil
}

// peekSeq returns the exchange of an encoded step without decoding the rest.
func peekSeq(b []byte) (uint64, error) {
	d := decoder{b: b}
	d.octet()
	seq := d.number()
	return seq, d.err
}

func (d *decoder) what(tag byte, at time.Duration) capture.What {
	switch tag {
	case tagOpened:
		return capture.Opened{
			ID: d.uuid(), Conn: d.number(), Started: d.instant(), Client: d.peer(), Agent: d.peer(), Head: d.bytes(),
		}
	case tagRequestBody:
		return capture.RequestBody{Data: d.bytes(), Dropped: d.signed(), Decoded: d.flag()}
	case tagRequestEnd:
		return capture.RequestEnd{Size: d.signed(), Trailer: d.bytes()}
	case tagInformational:
		return capture.Informational{Head: d.bytes()}
	case tagResponseHead:
		return capture.ResponseHead{Head: d.bytes(), Stream: d.flag()}
	case tagResponseBody:
		return capture.ResponseBody{Data: d.bytes(), Dropped: d.signed(), Decoded: d.flag()}
	case tagResponseEvent:
		return capture.ResponseEvent{Event: capture.Event{
			K: int(d.signed()), At: at, Raw: d.bytes(), Dropped: d.signed(), Unterminated: d.flag(),
		}}
	case tagResponseEnd:
		return capture.ResponseEnd{Size: d.signed(), Trailer: d.bytes()}
	case tagFact:
		return d.fact()
	case tagClosed:
		return d.closed()
	case tagLost:
		return capture.Lost{Exchanges: d.signed(), Bytes: d.signed(), Reason: d.text()}
	}
	d.fail(fmt.Errorf("format %d has no such kind of step", Format))
	return nil
}

func (d *decoder) fact() capture.Fact {
	f := capture.Fact{Client: d.peer()}
	// Three lengths are at least three bytes: a count that cannot be true allocates nothing.
	if n := d.number(); n > uint64(len(d.b)/3) {
		d.fail(errDamaged)
	} else if n > 0 {
		f.Rewrites = make([]capture.Rewrite, n)
		for i := range f.Rewrites {
			f.Rewrites[i] = capture.Rewrite{Place: d.text(), Was: d.text(), Now: d.text()}
		}
	}
	f.Note = d.text()
	f.Replayed = d.flag()
	return f
}

func (d *decoder) closed() capture.Closed {
	var c capture.Closed
	if d.flag() {
		c.Fault = &capture.Fault{Kind: d.text(), Side: d.text(), Detail: d.text()}
	}
	c.Interrupted = d.flag()
	c.Dropped = d.signed()
	return c
}

func (d *decoder) peer() capture.Peer {
	return capture.Peer{Name: d.name(), Addr: d.text(), URL: d.name(), How: d.name()}
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err, d.b = err, nil
	}
}

func (d *decoder) octet() byte {
	if len(d.b) == 0 {
		d.fail(errDamaged)
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) flag() bool {
	v := d.octet()
	if v > 1 {
		d.fail(errDamaged)
	}
	return v == 1
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail(errDamaged)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) signed() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail(errDamaged)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) instant() time.Time {
	sec, nsec := d.signed(), d.number()
	if nsec >= uint64(time.Second) {
		d.fail(errDamaged)
	}
	if d.err != nil {
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec)).UTC()
}

func (d *decoder) uuid() uuid.UUID {
	var id uuid.UUID
	copy(id[:], d.take(uint64(len(id))))
	return id
}

// take returns the next n bytes, pointing into b, with no room to grow into what follows.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail(errDamaged)
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n == 0 {
		return nil
	}
	p := d.take(n - 1)
	if d.own && p != nil {
		p = append(make([]byte, 0, len(p)), p...)
	}
	return p
}

func (d *decoder) text() string { return string(d.take(d.number())) }

// name is text that occurs in step after step.
func (d *decoder) name() string { return d.names.of(d.take(d.number())) }

// rest returns a copy of all that is left.
func (d *decoder) rest() []byte {
	p := bytes.Clone(d.b)
	d.b = nil
	return p
}
