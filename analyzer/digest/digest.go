// Package digest makes numbers that stand for contents, so that what a message or an artifact held can be compared
// later without being kept.
package digest

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"a2atap/proxy/a2a"
)

// A Digest is a rolling FNV-1a hash of 64 bits: what was added in pieces has the digest of the whole. Different digests
// mean different contents; equal ones are taken for equal contents, which can only hide a difference.
type Digest uint64

// Empty is the digest of nothing.
const Empty Digest = 14695981039346656037

const prime Digest = 1099511628211

// Byte adds a byte.
func (d Digest) Byte(b byte) Digest { return (d ^ Digest(b)) * prime }

// Bytes adds bytes.
func (d Digest) Bytes(p []byte) Digest {
	for _, b := range p {
		d = d.Byte(b)
	}
	return d
}

// Text adds the bytes of a text.
func (d Digest) Text(s string) Digest {
	for i := range len(s) {
		d = d.Byte(s[i])
	}
	return d
}

// Number adds a number.
func (d Digest) Number(n uint64) Digest {
	for range 8 {
		d = d.Byte(byte(n))
		n >>= 8
	}
	return d
}

// JSONString adds what a JSON string says, whatever its escapes.
func (d Digest) JSONString(v a2a.Value) Digest {
	if v.Kind() != a2a.String {
		return d
	}
	inner := v.Raw()
	inner = inner[1 : len(inner)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return d.Bytes(inner)
	}
	return d.Text(v.Text())
}

// Base64 adds the bytes that a string in base64 stands for, of either alphabet and padded or not.
func (d Digest) Base64(v a2a.Value) Digest {
	var bits uint32
	held := 0
	for _, c := range []byte(v.Text()) {
		six, ok := sextet(c)
		if !ok {
			continue
		}
		bits = bits<<6 | six
		if held += 6; held >= 8 {
			held -= 8
			d = d.Byte(byte(bits >> held))
		}
	}
	return d
}

func sextet(c byte) (uint32, bool) {
	switch {
	case 'A' <= c && c <= 'Z':
		return uint32(c - 'A'), true
	case 'a' <= c && c <= 'z':
		return uint32(c-'a') + 26, true
	case '0' <= c && c <= '9':
		return uint32(c-'0') + 52, true
	case c == '+', c == '-':
		return 62, true
	case c == '/', c == '_':
		return 63, true
	}
	return 0, false
}

// JSON adds what a JSON value means: members in any order, numbers however they are written. What ProtoJSON leaves out
// counts as left out: null, false, zero, and what is empty. Members with a name in skip do not count at any depth.
func (d Digest) JSON(v a2a.Value, skip string) Digest {
	switch v.Kind() {
	case a2a.Object:
		var sum Digest // of the members, whose order says nothing
		for name, member := range v.Members() {
			if name != skip && !isDefault(member) {
				sum += Empty.Text(name).Byte(':').JSON(member, skip)
			}
		}
		return d.Byte('{').Number(uint64(sum))
	case a2a.Array:
		d = d.Byte('[')
		for _, e := range v.Elems() {
			d = d.JSON(e, skip).Byte(',')
		}
		return d
	case a2a.String:
		return d.Byte('"').JSONString(v)
	case a2a.Number:
		f, _ := strconv.ParseFloat(string(v.Raw()), 64) // what it cannot tell apart counts as equal
		return d.Byte('0').Text(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return d.Bytes(v.Raw())
}

func isDefault(v a2a.Value) bool {
	switch v.Kind() {
	case a2a.Absent, a2a.Null:
		return true
	case a2a.Bool:
		yes, _ := v.Bool()
		return !yes
	case a2a.Number:
		f, err := strconv.ParseFloat(string(v.Raw()), 64)
		return err == nil && f == 0
	case a2a.String:
		return len(v.Raw()) == 2
	}
	for range v.Elems() {
		return false
	}
	for range v.Members() {
		return false
	}
	return true
}
