package analyzer

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"a2atap/proxy/a2a"
)

// A digest is a rolling FNV-1a hash of 64 bits: what was added in pieces has the digest of the whole. Different digests
// mean different contents; equal ones are taken for equal contents, which can only hide a difference.
type digest uint64

const (
	noDigest    digest = 14695981039346656037
	digestPrime digest = 1099511628211
)

func (d digest) byte(b byte) digest { return (d ^ digest(b)) * digestPrime }

func (d digest) bytes(p []byte) digest {
	for _, b := range p {
		d = d.byte(b)
	}
	return d
}

func (d digest) string(s string) digest {
	for i := range len(s) {
		d = d.byte(s[i])
	}
	return d
}

func (d digest) number(n uint64) digest {
	for range 8 {
		d = d.byte(byte(n))
		n >>= 8
	}
	return d
}

// text adds what a JSON string says, whatever its escapes.
func (d digest) text(v a2a.Value) digest {
	if v.Kind() != a2a.String {
		return d
	}
	inner := v.Raw()
	inner = inner[1 : len(inner)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return d.bytes(inner)
	}
	return d.string(v.Text())
}

// base64 adds the bytes that a string in base64 stands for, of either alphabet and padded or not.
func (d digest) base64(v a2a.Value) digest {
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
			d = d.byte(byte(bits >> held))
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

// value adds what a JSON value means: members in any order, numbers however they are written. What ProtoJSON leaves out
// counts as left out: null, false, zero, and what is empty. Members with a name in skip do not count at any depth.
func (d digest) value(v a2a.Value, skip string) digest {
	switch v.Kind() {
	case a2a.Object:
		var sum digest // of the members, whose order says nothing
		for name, member := range v.Members() {
			if name != skip && !isDefault(member) {
				sum += noDigest.string(name).byte(':').value(member, skip)
			}
		}
		return d.byte('{').number(uint64(sum))
	case a2a.Array:
		d = d.byte('[')
		for _, e := range v.Elems() {
			d = d.value(e, skip).byte(',')
		}
		return d
	case a2a.String:
		return d.byte('"').text(v)
	case a2a.Number:
		f, _ := strconv.ParseFloat(string(v.Raw()), 64) // what it cannot tell apart counts as equal
		return d.byte('0').string(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return d.bytes(v.Raw())
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

// viewer tells apart who may be shown a task in a different way: the client, its credentials, the version that it speaks
// and the extensions that it activates.
func (x *Exchange) viewer() digest {
	if x.seenBy != 0 {
		return x.seenBy
	}
	d := noDigest.string(x.Link.Client).byte(0).number(uint64(x.Principal()))
	for _, name := range [...]string{"A2A-Extensions", "X-A2A-Extensions"} {
		values := slices.Clone(x.Request.Fields.Values(name))
		slices.Sort(values)
		for _, v := range values {
			d = d.string(v).byte(0)
		}
	}
	if x.Dialects.Has(a2a.V1_0) {
		d = d.byte(1)
	}
	x.seenBy = cmp.Or(d, 1)
	return x.seenBy
}
