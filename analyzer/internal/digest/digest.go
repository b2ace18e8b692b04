// Package digest hashes contents, so that the contents of a message or an artifact can be compared later without being
// kept.
//
// Different digests mean different contents. Equal digests are treated as equal contents: a collision can hide a
// difference, but never invents one. JSON counts by its meaning, not by its notation, and all secrets that were hidden
// count as equal, since equal ones may have been hidden with different keys.
//
// Digests hold within one process and are not stored.
package digest

import (
	"hash/maphash"
	"math"
	"strconv"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

// A Digest is a number of 64 bits for a sequence of texts and numbers. Different digests mean different contents; equal
// ones are treated as equal contents, which can only hide a difference. Digests are valid only within this process.
type Digest uint64

// Empty is the digest of nothing.
const Empty Digest = 14695981039346656037

// seed makes it impossible to choose contents that have the digest of others.
var seed = maphash.MakeSeed()

// Number adds a number.
func (d Digest) Number(n uint64) Digest {
	d = d*0x9e3779b97f4a7c15 + Digest(n)
	d = (d ^ d>>33) * 0xff51afd7ed558ccd
	d = (d ^ d>>33) * 0xc4ceb9fe1a85ec53
	return d ^ d>>33
}

// Low returns 32 bits of the digest.
func (d Digest) Low() uint32 { return uint32(d) }

// Byte adds a byte, such as a tag for the meaning of the rest.
func (d Digest) Byte(b byte) Digest { return d.Number(uint64(b)) }

// Text adds a text. Two texts differ from their concatenation.
func (d Digest) Text(s string) Digest { return d.Number(maphash.String(seed, s)) }

// Bytes adds the same as Text for the same text.
func (d Digest) Bytes(b []byte) Digest { return d.Number(maphash.Bytes(seed, b)) }

// JSONString adds the text of a JSON string, regardless of its escapes, as Text does; nothing if the value is not a
// string. All hidden secrets count as equal, since equal ones may have been hidden with different keys.
func (d Digest) JSONString(v a2a.Value) Digest {
	if v.Kind() != a2a.String {
		return d
	}
	if plain, ok := v.Literal(); ok {
		return d.Number(maphash.Bytes(seed, credential.Alike(plain)))
	}
	return d.Number(maphash.Bytes(seed, credential.Alike([]byte(v.Text()))))
}

// JSON adds the meaning of a JSON value, regardless of the order of members and the notation of numbers. Values that
// ProtoJSON leaves out count as missing: null, false, zero, and empty values. Members with a name in skip do not count
// at any depth.
func (d Digest) JSON(v a2a.Value, skip string) Digest {
	switch v.Kind() {
	case a2a.Object:
		var sum Digest // of the members, whose order does not matter
		for name, member := range v.Pairs() {
			if !name.Is(skip) && !isDefault(member) {
				sum += Empty.JSONString(name).JSON(member, skip)
			}
		}
		return d.Byte('{').Number(uint64(sum))
	case a2a.Array:
		d = d.Byte('[').Number(uint64(v.Len()))
		for _, e := range v.Elems() {
			d = d.JSON(e, skip)
		}
		return d
	case a2a.String:
		return d.Byte('"').JSONString(v)
	case a2a.Number:
		f, _ := strconv.ParseFloat(string(v.Raw()), 64)    // values that it cannot distinguish count as equal
		return d.Byte('0').Number(math.Float64bits(f + 0)) // -0 becomes 0
	}
	return d.Number(maphash.Bytes(seed, v.Raw()))
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
