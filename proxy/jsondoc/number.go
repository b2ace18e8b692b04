package jsondoc

import (
	"bytes"
	"math"
	"strconv"
)

// A decimal is a JSON number read exactly: 0.d1d2d3… times ten to the power of exp, without zeros at either end of the
// digits. Zero has no digits. The digits may have a point inside, which does not count.
type decimal struct {
	negative bool
	digits   []byte // as on the wire, from the first to the last that is not zero
	exp      int64
	exact    bool // false if the exponent is too large
}

// readDecimal reads the bytes of a JSON number (RFC 8259 §6).
func readDecimal(raw []byte) decimal {
	d := decimal{exact: true}
	if len(raw) > 0 && raw[0] == '-' {
		d.negative, raw = true, raw[1:]
	}
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		d.exp, d.exact = readExponent(raw[i+1:])
		raw = raw[:i]
	}
	point := bytes.IndexByte(raw, '.')
	if point < 0 {
		point = len(raw)
	}
	first := bytes.IndexAny(raw, "123456789")
	if first < 0 {
		return decimal{exact: true}
	}
	if first < point {
		d.exp += int64(point - first)
	} else {
		d.exp -= int64(first - point - 1)
	}
	d.digits = raw[first : bytes.LastIndexAny(raw, "123456789")+1]
	return d
}

// readExponent reads an exponent of up to nine digits in addition to leading zeros; it rejects longer ones.
func readExponent(raw []byte) (int64, bool) {
	negative := raw[0] == '-'
	if negative || raw[0] == '+' {
		raw = raw[1:]
	}
	raw = bytes.TrimLeft(raw, "0")
	if len(raw) > 9 {
		return 0, false
	}
	var n int64
	for _, c := range raw {
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// count returns how many digits there are.
func (d decimal) count() int64 {
	n := len(d.digits)
	if bytes.IndexByte(d.digits, '.') >= 0 {
		n--
	}
	return int64(n)
}

func (d decimal) equal(e decimal) bool {
	if d.negative != e.negative || d.exp != e.exp || d.count() != e.count() {
		return false
	}
	for i, j := 0, 0; i < len(d.digits) && j < len(e.digits); i, j = i+1, j+1 {
		if d.digits[i] == '.' {
			i++
		}
		if e.digits[j] == '.' {
			j++
		}
		if d.digits[i] != e.digits[j] {
			return false
		}
	}
	return true
}

// Int returns the value of a number without fraction, however it is written (1, 1.0, 1e0), and whether the value is
// such a number and an int64 can hold it.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	d := readDecimal(v.Raw())
	if !d.exact || d.exp < d.count() || d.exp > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range d.digits {
		if c != '.' {
			n = n*10 + uint64(c-'0') // at most 19 digits: no overflow
		}
	}
	for range d.exp - d.count() {
		n *= 10
	}
	switch {
	case d.negative && n <= 1<<63:
		return -int64(n), true // -(1<<63) is itself
	case !d.negative && n <= math.MaxInt64:
		return int64(n), true
	}
	return 0, false
}

// Fractional reports whether the value is a number that is surely not an integer, in any notation: 1.5 and 15e-1 are
// such numbers, 1.0 is not.
func (v Value) Fractional() bool {
	if v.Kind() != Number {
		return false
	}
	d := readDecimal(v.Raw())
	return d.exact && d.exp < d.count()
}

// EqualNumber reports whether both values are numbers and equal, regardless of size and notation.
func EqualNumber(a, b Value) bool {
	if a.Kind() != Number || b.Kind() != Number {
		return false
	}
	if bytes.Equal(a.Raw(), b.Raw()) {
		return true
	}
	d, e := readDecimal(a.Raw()), readDecimal(b.Raw())
	return d.exact && e.exact && d.equal(e)
}

// SameID reports whether two JSON-RPC ids are the same: of the same type and value (JSON-RPC 2.0 §5). 1 and 1.0 are the
// same number, 1 and "1" differ, null is the same as null. An Absent id is the same as no other.
func SameID(a, b Value) bool {
	switch {
	case a.Kind() != b.Kind():
		return false
	case a.Kind() == Number:
		return EqualNumber(a, b)
	case a.Kind() == String:
		if !a.node().escaped && !b.node().escaped {
			return bytes.Equal(a.Raw(), b.Raw())
		}
		return a.Text() == b.Text()
	}
	return a.Kind() == Null
}

// AppendNumber appends a text of a number that is the same for equal numbers, however they are written. A number whose
// exponent is too large to read is appended as it is written.
func AppendNumber(dst []byte, v Value) []byte {
	d := readDecimal(v.Raw())
	if !d.exact {
		return append(dst, v.Raw()...)
	}
	if d.negative {
		dst = append(dst, '-')
	}
	for _, c := range d.digits {
		if c != '.' {
			dst = append(dst, c)
		}
	}
	if len(d.digits) == 0 {
		return append(dst, '0')
	}
	return strconv.AppendInt(append(dst, 'e'), d.exp, 10)
}
