package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// ErrDamaged is a decoder's error for bytes that end too early or have impossible values.
var ErrDamaged = errors.New("the bytes are damaged")

// A Decoder decodes values from the front of b, in the order in which an encoder appended them. After its first error
// it returns zero values, so that callers check err once, at the end. Bytes of any content are safe.
type Decoder struct {
	B   []byte
	own bool // byte slices are copies; otherwise they point into b
	Err error

	Names Names // nil if each text should be a separate string
}

// Names are texts that occur in many steps, such as names of clients: each is one string for all steps.
type Names map[string]string

// maxNames bounds how many texts are known, and maxName how long each is, in bytes.
const (
	maxNames = 1000
	maxName  = 256
)

func (n Names) of(b []byte) string {
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

// DecodeStep decodes one step, without the length in front of it. If own is set its bytes are copies; otherwise they
// point into b.
func DecodeStep(b []byte, own bool) (capture.Step, error) {
	d := Decoder{B: b, own: own}
	return d.Step()
}

// Step takes a step, which must be all that is left.
func (d *Decoder) Step() (capture.Step, error) {
	tag := d.Octet()
	s := capture.Step{Seq: d.Number(), Offset: time.Duration(d.Signed())}
	s.What = d.what(tag, s.Offset)
	if d.Err == nil && len(d.B) != 0 {
		d.Err = fmt.Errorf("%d extra bytes after the content: %w", len(d.B), ErrDamaged)
	}
	if d.Err != nil {
		return capture.Step{}, fmt.Errorf("decode a step with tag %d: %w", tag, d.Err)
	}
	return s, nil
}

// PeekSeq returns the exchange of an encoded step without decoding the rest.
func PeekSeq(b []byte) (uint64, error) {
	d := Decoder{B: b}
	d.Octet()
	seq := d.Number()
	return seq, d.Err
}

func (d *Decoder) what(tag byte, at time.Duration) capture.What {
	switch tag {
	case tagOpened:
		return capture.Opened{
			ID: d.UUID(), Conn: d.Number(), Started: d.Instant(), Client: d.peer(), Agent: d.peer(), Head: d.Bytes(),
			Stream: d.stream(),
		}
	case tagRequestBody:
		return capture.RequestBody{Data: d.Bytes(), Dropped: d.Signed(), Decoded: d.Flag()}
	case tagRequestEnd:
		return capture.RequestEnd{Size: d.Signed(), Trailer: d.Bytes()}
	case tagInformational:
		return capture.Informational{Head: d.Bytes()}
	case tagResponseHead:
		return capture.ResponseHead{Head: d.Bytes(), Stream: d.Flag()}
	case tagResponseBody:
		return capture.ResponseBody{Data: d.Bytes(), Dropped: d.Signed(), Decoded: d.Flag()}
	case TagResponseEvent:
		return capture.ResponseEvent{Event: capture.Event{
			K: int(d.Signed()), At: at, Raw: d.Bytes(), Dropped: d.Signed(), Unterminated: d.Flag(),
		}}
	case tagResponseEnd:
		return capture.ResponseEnd{Size: d.Signed(), Trailer: d.Bytes()}
	case tagFact:
		return d.fact()
	case tagClosed:
		return d.closed()
	case tagLost:
		return capture.Lost{Exchanges: d.Signed(), Bytes: d.Signed(), Reason: d.Text(), Crash: d.crash()}
	}
	d.Fail(fmt.Errorf("format %d has no such kind of step", Format))
	return nil
}

// crash reads the killed recorder of a loss, which is at the end of the step if it is the reason.
func (d *Decoder) crash() *capture.Crash {
	if d.Err != nil || len(d.B) == 0 {
		return nil
	}
	return &capture.Crash{After: d.Instant(), Within: time.Duration(d.Signed())}
}

// stream reads the number of an HTTP/2 stream, which is the last of the HTTP/2 fields.
func (d *Decoder) stream() uint32 {
	if d.Err != nil || len(d.B) == 0 {
		return 0
	}
	n := d.Number()
	if n == 0 || n >= 1<<31 { // RFC 9113 section 4.1
		d.Fail(ErrDamaged)
	}
	return uint32(n)
}

func (d *Decoder) fact() capture.Fact {
	f := capture.Fact{Client: d.peer()}
	// Three lengths are at least three bytes: a count that cannot be true allocates nothing.
	if n := d.Number(); n > uint64(len(d.B)/3) {
		d.Fail(ErrDamaged)
	} else if n > 0 {
		f.Rewrites = make([]capture.Rewrite, n)
		for i := range f.Rewrites {
			f.Rewrites[i] = capture.Rewrite{Place: d.Text(), Was: d.Text(), Now: d.Text()}
		}
	}
	f.Note = d.Text()
	f.Replayed = d.Flag()
	f.End = d.sideEnd()
	return f
}

// sideEnd decodes how a side ended its part: the optional tail of a fact.
func (d *Decoder) sideEnd() capture.SideEnd {
	if d.Err != nil || len(d.B) == 0 {
		return capture.SideEnd{}
	}
	e := capture.SideEnd{
		Side: d.name(), How: d.name(), At: time.Duration(d.Signed()), Request: d.Signed(), Response: d.Signed(),
	}
	if e.Side == "" {
		d.Fail(ErrDamaged)
	}
	return e
}

func (d *Decoder) closed() capture.Closed {
	var c capture.Closed
	if d.Flag() {
		c.Fault = &capture.TransportFault{Kind: d.Text(), Side: d.Text(), Detail: d.Text()}
	}
	c.Interrupted = d.Flag()
	c.Dropped = d.Signed()
	return c
}

func (d *Decoder) peer() capture.Peer {
	return capture.Peer{Name: d.name(), Addr: d.Text(), URL: d.name(), How: d.name()}
}

// Fail sets the decoder's error unless it has one.
func (d *Decoder) Fail(err error) {
	if d.Err == nil {
		d.Err, d.B = err, nil
	}
}

// Octet takes one byte.
func (d *Decoder) Octet() byte {
	if len(d.B) == 0 {
		d.Fail(ErrDamaged)
		return 0
	}
	v := d.B[0]
	d.B = d.B[1:]
	return v
}

// Flag decodes the output of Encoder.Flag.
func (d *Decoder) Flag() bool {
	v := d.Octet()
	if v > 1 {
		d.Fail(ErrDamaged)
	}
	return v == 1
}

// Number decodes the output of Encoder.Number.
func (d *Decoder) Number() uint64 {
	v, n := binary.Uvarint(d.B)
	if n <= 0 {
		d.Fail(ErrDamaged)
		return 0
	}
	d.B = d.B[n:]
	return v
}

// Signed decodes the output of Encoder.Signed.
func (d *Decoder) Signed() int64 {
	v, n := binary.Varint(d.B)
	if n <= 0 {
		d.Fail(ErrDamaged)
		return 0
	}
	d.B = d.B[n:]
	return v
}

// Instant decodes the output of Encoder.Instant.
func (d *Decoder) Instant() time.Time {
	sec, nsec := d.Signed(), d.Number()
	if nsec >= uint64(time.Second) {
		d.Fail(ErrDamaged)
	}
	if d.Err != nil {
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec)).UTC()
}

// UUID takes 16 bytes.
func (d *Decoder) UUID() uuid.UUID {
	var id uuid.UUID
	copy(id[:], d.Take(uint64(len(id))))
	return id
}

// Take returns the next n bytes, pointing into b, with no room to grow into what follows.
func (d *Decoder) Take(n uint64) []byte {
	if n > uint64(len(d.B)) {
		d.Fail(ErrDamaged)
		return nil
	}
	p := d.B[:n:n]
	d.B = d.B[n:]
	return p
}

// Bytes decodes the output of Encoder.Bytes.
func (d *Decoder) Bytes() []byte {
	n := d.Number()
	if n == 0 {
		return nil
	}
	p := d.Take(n - 1)
	if d.own && p != nil {
		p = append(make([]byte, 0, len(p)), p...)
	}
	return p
}

// Text decodes the output of Encoder.Text.
func (d *Decoder) Text() string { return string(d.Take(d.Number())) }

// name is text that occurs in step after step.
func (d *Decoder) name() string { return d.Names.of(d.Take(d.Number())) }

// Rest returns a copy of all that is left.
func (d *Decoder) Rest() []byte {
	p := bytes.Clone(d.B)
	d.B = nil
	return p
}
