package a2a

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"strconv"
	"strings"
)

// A TaskDigest has hashes of a task's contents that are equal in all forms of JSON. They ignore the order of members,
// omitted defaults, metadata, links, and times, which may be rounded.
type TaskDigest struct{ Context, Status, Artifacts, History uint64 }

// A Digester makes digests that are comparable with one another. The zero Digester is not ready to use.
type Digester struct{ seed maphash.Seed }

// NewDigester returns a Digester whose digests are comparable only with each other.
func NewDigester() Digester { return Digester{maphash.MakeSeed()} }

// Task returns the digest of a task.
func (d Digester) Task(t Task) TaskDigest {
	status := d.list(d.text(t.State().String()), d.message(t.StatusMessage()))
	sum := TaskDigest{Context: d.text(t.ContextID()), Status: status}
	for _, a := range t.Artifacts() {
		sum.Artifacts = d.list(sum.Artifacts, d.text(a.ID()), d.text(a.Get("name").Text()),
			d.text(a.Get("description").Text()), d.parts(a.Parts()))
	}
	for _, m := range t.History() {
		sum.History = d.list(sum.History, d.message(m))
	}
	return sum
}

// message returns the digest of a message; 0 if it is missing.
func (d Digester) message(m Message) uint64 {
	if m.Kind() != Object {
		return 0
	}
	return d.list(d.text(m.ID()), d.text(m.Role().String()), d.parts(m.Parts()))
}

func (d Digester) parts(p Parts) uint64 {
	var sum uint64
	for _, part := range p.All() {
		sum = d.list(sum, d.part(part))
	}
	return sum
}

// part returns the digest of a part. Links do not count, since an agent may sign them again for each answer.
func (d Digester) part(p Part) uint64 {
	kind := p.PartKind()
	var content uint64
	switch kind {
	case TextPart:
		content = d.text(p.Text())
	case DataPart:
		content = d.value(p.Data())
	case RawPart:
		content = d.text(base64Forms.Replace(p.Bytes().Text()))
	}
	return d.list(uint64(kind), content)
}

// base64Forms normalizes base64 of either alphabet, with or without padding.
var base64Forms = strings.NewReplacer("-", "+", "_", "/", "=", "")

// value returns the digest of JSON without meaning to the protocol.
func (d Digester) value(v Value) uint64 {
	sum := uint64(v.Kind())
	switch v.Kind() {
	case String:
		return d.list(sum, d.text(v.Text()))
	case Number:
		n, err := strconv.ParseFloat(string(v.Raw()), 64)
		if err != nil || n == 0 {
			n = 0 // 0 and -0 are equal
		}
		return d.list(sum, math.Float64bits(n))
	case Bool:
		if truth, _ := v.Bool(); truth {
			return d.list(sum, 1)
		}
	case Array:
		for _, e := range v.Elems() {
			sum = d.list(sum, d.value(e))
		}
	case Object:
		for name, m := range v.Members() {
			sum += d.list(d.text(name), d.value(m)) // in any order
		}
	}
	return sum
}

func (d Digester) text(s string) uint64 { return maphash.String(d.seed, s) }

// list returns the digest of a sequence.
func (d Digester) list(items ...uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, item := range items {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], item)
		h.Write(b[:]) //nolint:errcheck // a hash takes everything
	}
	return h.Sum64()
}
