package canonical

import (
	"hash/maphash"
	"slices"
	"strings"

	"a2atap/proxy/jsondoc"
)

var seed = maphash.MakeSeed()

// contents returns a hash for each value of a request, and for each line of a text in the form that normal gives it, with
// its path but without its place in lists.
func contents(t *tree, normal func(string) string) (all []uint32) {
	w := writer{rpc: t.dialect.rpc, dialect: t.dialect}
	add := func(path, text string) {
		var h maphash.Hash
		h.SetSeed(seed)
		h.WriteString(path)
		h.WriteByte(0)
		h.WriteString(text)
		all = append(all, uint32(h.Sum64())) //nolint:gosec // half of it is enough
	}
	var walk func(path string, v jsondoc.Value)
	walk = func(path string, v jsondoc.Value) {
		switch v.Kind() {
		case jsondoc.Object:
			for _, m := range w.members(v) {
				walk(path+"."+m.name, m.value)
			}
		case jsondoc.Array:
			for _, e := range v.Elems() {
				walk(path+"[]", e)
			}
		case jsondoc.String:
			for line := range strings.SplitSeq(normal(v.Text()), "\n") {
				add(path, line)
			}
		case jsondoc.Number:
			add(path, string(jsondoc.AppendNumber(nil, v)))
		case jsondoc.Bool, jsondoc.Null:
			add(path, string(v.Raw()))
		}
	}
	walk("?", t.query)
	walk("", t.body)
	return all
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
	all := contents(read(q), func(text string) string { return text })
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
	was, now := contents(read(a), r.normal), contents(read(b), r.normal)
	slices.Sort(was)
	slices.Sort(now)
	return apart(was, now)
}
