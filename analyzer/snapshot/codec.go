package snapshot

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// An encoder writes a value. A text that was written before is written as its number.
type encoder struct {
	b      []byte
	texts  map[string]uint64
	before last
}

// A last is the previous row, relative to which the next one is encoded.
type last struct {
	Seq, Conn uint64
	Started   time.Time
}

var firstLast = last{Started: time.Unix(0, 0).UTC()}

func newEncoder() *encoder { return &encoder{texts: make(map[string]uint64), before: firstLast} }

// reset prepares the encoder for reuse. Its previous output is gone.
func (e *encoder) reset() {
	clear(e.texts)
	e.b, e.before = e.b[:0], firstLast
}

func (e *encoder) number(n uint64) { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) signed(n int64)  { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) octet(n byte)    { e.b = append(e.b, n) }
func (e *encoder) count(n int)     { e.number(uint64(n)) }

// text writes 0 and the text if the text is new, otherwise its number.
func (e *encoder) text(s string) {
	if n, known := e.texts[s]; known {
		e.number(n)
		return
	}
	e.texts[s] = uint64(len(e.texts)) + 1
	e.number(0)
	e.count(len(s))
	e.b = append(e.b, s...)
}

// A decoder decodes the output of an encoder. After the first error all values are zero, and err is set.
type decoder struct {
	b      string
	texts  []string
	before last
	err    error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = damaged("%s", what)
	}
	d.b = ""
}

func (d *decoder) number() uint64 {
	var n uint64
	for i := range min(len(d.b), binary.MaxVarintLen64) {
		c := d.b[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			break
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.b = d.b[i+1:]
			return n
		}
	}
	d.fail("a number is cut off")
	return 0
}

func (d *decoder) signed() int64 {
	n := d.number()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) octet() byte {
	if d.b == "" {
		d.fail("a byte is missing")
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

// count reads how many things follow, each of at least one byte.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.fail("a list is longer than its container")
		return 0
	}
	return int(n)
}

// small reads a number that is an int.
func (d *decoder) small() int {
	n := d.number()
	if n > math.MaxInt32 {
		d.fail("a number is too large")
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.texts)) {
		d.fail("a reference to a text that was not written")
		return ""
	}
	if n > 0 {
		return d.texts[n-1]
	}
	size := d.number()
	if size > uint64(len(d.b)) {
		d.fail("a text is cut off")
		return ""
	}
	s := d.b[:size]
	d.b = d.b[size:]
	if d.err == nil {
		d.texts = append(d.texts, s)
	}
	return s
}

// known fails if a decoded value is invalid.
func (d *decoder) known(ok bool) {
	if !ok {
		d.fail("an unknown value")
	}
}

// A codec defines the layout of values once for both directions: it writes values, or reads them into zero values.
type codec struct {
	w     *encoder // nil if it reads
	r     *decoder // nil if it writes
	rules map[string]*analysis.Rule
}

// reads returns a codec that reads an entry with a key of that length; rules maps ids to rules, for findings and
// coverage.
func reads(e capture.Entry, key int, rules map[string]*analysis.Rule) (codec, error) {
	if len(e.Key) != key {
		return codec{}, damaged("a key of %d bytes", len(e.Key))
	}
	raw, err := unpacker().DecodeAll(e.Value, nil)
	if err != nil {
		return codec{}, damaged("unpack: %v", err)
	}
	return codec{r: &decoder{b: string(raw), before: firstLast}, rules: rules}, nil
}

// before is the previous row, relative to which the next one is encoded.
func (c codec) before() *last {
	if c.w != nil {
		return &c.w.before
	}
	return &c.r.before
}

func (c codec) number(n *uint64) {
	if c.w != nil {
		c.w.number(*n)
	} else {
		*n = c.r.number()
	}
}

func (c codec) signed(n *int64) {
	if c.w != nil {
		c.w.signed(*n)
	} else {
		*n = c.r.signed()
	}
}

// int encodes a number that may be negative, and small one that is not.
func (c codec) int(n *int) {
	if c.w != nil {
		c.w.signed(int64(*n))
	} else {
		*n = int(c.r.signed())
	}
}

func (c codec) small(numbers ...*int) {
	for _, n := range numbers {
		if c.w != nil {
			c.w.count(*n)
		} else {
			*n = c.r.small()
		}
	}
}

func octet[T ~uint8](c codec, v *T) {
	if c.w != nil {
		c.w.octet(byte(*v))
	} else {
		*v = T(c.r.octet())
	}
}

func (c codec) text(texts ...*string) {
	for _, s := range texts {
		if c.w != nil {
			c.w.text(*s)
		} else {
			*s = c.r.text()
		}
	}
}

// flags lays out up to 64 answers of yes or no.
func (c codec) flags(flags ...*bool) {
	var set uint64
	if c.w != nil {
		for i, f := range flags {
			if *f {
				set |= 1 << i
			}
		}
		c.w.number(set)
		return
	}
	set = c.r.number()
	for i, f := range flags {
		*f = set&(1<<i) != 0
	}
}

// each encodes a list, given the encoding of one element.
func each[T any](c codec, list *[]T, one func(*T)) {
	if c.w != nil {
		c.w.count(len(*list))
		for i := range *list {
			one(&(*list)[i])
		}
		return
	}
	const most = 64 // accepted before they are read
	n := c.r.count()
	if n > 0 {
		*list = make([]T, 0, min(n, most))
	}
	for i := 0; i < n && c.r.err == nil; i++ {
		*list = append(*list, *new(T))
		one(&(*list)[i])
	}
}

// counted encodes the counts of keys.
func counted[K cmp.Ordered](c codec, by *map[K]int, key func(*K)) {
	keys := slices.Sorted(maps.Keys(*by))
	each(c, &keys, func(k *K) {
		n := (*by)[*k]
		key(k)
		if c.small(&n); c.w != nil {
			return
		}
		if *by == nil {
			*by = make(map[K]int)
		}
		(*by)[*k] = n
	})
}

func octets[T ~uint8](c codec, list *[]T) { each(c, list, func(v *T) { octet(c, v) }) }
func (c codec) texts(list *[]string)      { each(c, list, func(s *string) { c.text(s) }) }
func (c codec) numbers(list *[]uint64)    { each(c, list, c.number) }
func (c codec) took(d *time.Duration)     { c.signed((*int64)(d)) }
func (c codec) link(l *analysis.Link)     { c.text(&l.Client, &l.Agent) }

func (c codec) rule(r **analysis.Rule) {
	if c.w != nil {
		c.w.text((*r).ID)
		return
	}
	if *r = c.rules[c.r.text()]; *r == nil {
		c.r.fail("an unknown rule")
		*r = &analysis.Rule{}
	}
}

// since encodes a time as the difference from the previous row's.
func (c codec) since(t *time.Time) {
	zero := t.IsZero()
	if c.flags(&zero); zero {
		return
	}
	took := t.Sub(c.before().Started)
	if c.took(&took); c.r != nil {
		*t = c.before().Started.Add(took)
	}
}

func (c codec) id(id *uuid.UUID) {
	switch {
	case c.w != nil:
		c.w.b = append(c.w.b, id[:]...)
	case len(c.r.b) < len(id):
		c.r.fail("an id is cut off")
	default:
		c.r.b = c.r.b[copy(id[:], c.r.b):]
	}
}
