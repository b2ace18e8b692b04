package canonical

import (
	"hash/maphash"
	"slices"
	"strings"

	"a2atap/proxy/jsondoc"
)

var seed = maphash.MakeSeed()

// contents returns a hash for each value of a request, and for each line of a text, with its path but without its place in
// lists. Without rules, texts are as they are.
func contents(t *tree, rules *Rules) (all []uint32) {
	w := writer{rpc: t.dialect.rpc, dialect: t.dialect, rules: rules}
	add := func(at uint64, text string) {
		all = append(all, uint32(step(at, text))) //nolint:gosec // half of it is enough
	}
	var walk func(at uint64, name string, v jsondoc.Value)
	walk = func(at uint64, name string, v jsondoc.Value) {
		switch v.Kind() {
		case jsondoc.Object:
			for _, m := range w.members(v) {
				walk(step(at, m.name), m.name, m.value)
			}
		case jsondoc.Array:
			at = step(at, "[]")
			for _, e := range v.Elems() {
				walk(at, name, e)
			}
		case jsondoc.String:
			for line := range strings.SplitSeq(w.normal(name, v.Text()), "\n") {
				add(at, line)
			}
		case jsondoc.Number:
			add(at, string(jsondoc.AppendNumber(nil, v)))
		case jsondoc.Bool, jsondoc.Null:
			add(at, string(v.Raw()))
		}
	}
	walk(1, "", t.query)
	walk(2, "", t.body)
	return all
}

// step returns the hash of a path with a further step.
func step(at uint64, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	maphash.WriteComparable(&h, at)
	h.WriteString(name)
	return h.Sum64()
}

// A Sample is a part of what a request contains, of bounded size: the same part of equal requests.
type Sample struct {
	hashes []uint32 // the smallest ones, sorted
	whole  bool     // it has everything
}

// sampleSize bounds the hashes of a sample.
const sampleSize = 256

// NewSample returns a sample of a request, as it is.
func NewSample(q *Request) Sample {
	all := contents(read(q), nil)
	slices.Sort(all)
	if len(all) <= sampleSize {
		return Sample{slices.Clip(all), true}
	}
	return Sample{slices.Clone(all[:sampleSize]), false}
}

// Near returns a rough distance between the contents of two requests: how many of their values, or lines of texts, only
// one of them has, as far as the samples show it.
func (s *Sample) Near(other *Sample) int {
	a, b := s.hashes, other.hashes
	if !s.whole || !other.whole { // samples are comparable up to the smaller of their largest values
		limit := ^uint32(0)
		for _, o := range [...]*Sample{s, other} {
			if n := len(o.hashes); !o.whole {
				limit = min(limit, o.hashes[n-1])
			}
		}
		a, b = upTo(a, limit), upTo(b, limit)
	}
	return apart(a, b)
}

func upTo(sorted []uint32, limit uint32) []uint32 {
	n, found := slices.BinarySearch(sorted, limit)
	for found && n < len(sorted) && sorted[n] == limit {
		n++
	}
	return sorted[:n]
}

// apart returns how many elements only one of two sorted lists has.
func apart(a, b []uint32) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			a, b = a[1:], b[1:]
			continue
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
		n++
	}
	return n + len(a) + len(b)
}

// Distance returns in how many values, or lines of texts, two requests differ.
func (r *Rules) Distance(a, b *Request) int {
	was, now := contents(read(a), cmpRules(r)), contents(read(b), cmpRules(r))
	slices.Sort(was)
	slices.Sort(now)
	return apart(was, now)
}
