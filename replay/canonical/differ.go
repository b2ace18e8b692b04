package canonical

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"a2atap/proxy/jsondoc"
)

// A Difference is a place in which a request differs from a recorded one.
type Difference struct {
	At       string // a path such as messages[3].content, and the line of a long text
	Was, Now string // excerpts, quoted; "" for a value that is absent
}

// String describes the difference, such as `messages[3].content, line 40: recorded "rain", now "snow"`.
func (d Difference) String() string {
	switch {
	case d.Was == "":
		return d.At + ": not recorded, now " + d.Now
	case d.Now == "":
		return d.At + ": recorded " + d.Was + ", now absent"
	}
	return fmt.Sprintf("%s: recorded %s, now %s", d.At, d.Was, d.Now)
}

// Differences returns the first places in which a request differs from a recorded one, at most so many.
func (r *Rules) Differences(recorded, live *Request, most int) []Difference {
	was, now := read(recorded), read(live)
	d := &differ{rules: cmpRules(r), most: most}
	d.w = writer{rpc: now.dialect.rpc, dialect: now.dialect, rules: d.rules}
	if a, b := r.Place(recorded), r.Place(live); a != b {
		d.add("path", quote(a), quote(b))
	}
	d.values(spot{path: "query"}, was.query, now.query)
	d.values(spot{}, was.body, now.body)
	return d.list
}

// A differ collects differences.
type differ struct {
	rules *Rules
	w     writer
	list  []Difference
	most  int
}

// A spot is a place in a request.
type spot struct {
	path  string
	name  string // of the member that has the value, or the list that it is in
	depth int
}

func (s spot) member(name string) spot {
	if s.path == "" {
		return spot{name, name, s.depth + 1}
	}
	return spot{s.path + "." + name, name, s.depth + 1}
}

func (s spot) element(i int) spot {
	return spot{s.path + "[" + strconv.Itoa(i) + "]", s.name, s.depth + 1}
}

// maxDepth bounds how deep places are named: a deeper value is compared as a whole.
const maxDepth = 64

func (d *differ) full() bool { return len(d.list) >= d.most }

func (d *differ) add(at, was, now string) {
	if !d.full() {
		d.list = append(d.list, Difference{orBody(at), was, now})
	}
}

func orBody(at string) string {
	if at == "" {
		return "body"
	}
	return at
}

// same reports whether two values have the same meaning.
func (d *differ) same(at spot, a, b jsondoc.Value) bool {
	return bytes.Equal(d.written(at, a), d.written(at, b))
}

func (d *differ) written(at spot, v jsondoc.Value) []byte {
	w := d.w
	w.value(at.name, v)
	return w.out
}

func (d *differ) values(at spot, was, now jsondoc.Value) {
	switch {
	case d.full():
	case was.Kind() != now.Kind():
		d.add(at.path, excerpt(was), excerpt(now))
	case was.Kind() == jsondoc.String:
		d.texts(at, was.Text(), now.Text())
	case was.Kind() == jsondoc.Object && at.depth < maxDepth:
		defer d.w.enter(now)()
		d.objects(at, d.w.members(was), d.w.members(now))
	case was.Kind() == jsondoc.Array && at.depth < maxDepth:
		d.arrays(at, d.w.elements(was), d.w.elements(now))
	case !d.same(at, was, now):
		d.add(at.path, excerpt(was), excerpt(now))
	}
}

func (d *differ) objects(at spot, was, now []member) {
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].name < now[0].name:
			d.values(at.member(was[0].name), was[0].value, jsondoc.Value{})
			was = was[1:]
		case len(was) == 0 || now[0].name < was[0].name:
			d.values(at.member(now[0].name), jsondoc.Value{}, now[0].value)
			now = now[1:]
		default:
			d.values(at.member(now[0].name), was[0].value, now[0].value)
			was, now = was[1:], now[1:]
		}
	}
}

// arrays compares elements by their place, after those at the beginning and the end that are equal.
func (d *differ) arrays(at spot, was, now []jsondoc.Value) {
	first := 0
	for first < min(len(was), len(now)) && d.same(at, was[first], now[first]) {
		first++
	}
	for len(was) > first && len(now) > first && d.same(at, was[len(was)-1], now[len(now)-1]) {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	for i := first; i < max(len(was), len(now)); i++ {
		var a, b jsondoc.Value
		if i < len(was) {
			a = was[i]
		}
		if i < len(now) {
			b = now[i]
		}
		d.values(at.element(i), a, b)
	}
}

// texts compares two texts line by line, and shows them as they are compared. Where no line differs, a value goes beyond
// the end of its line, and the texts differ as a whole.
func (d *differ) texts(at spot, was, now string) {
	a, b := d.rules.normal(at.name, was), d.rules.normal(at.name, now)
	if a == b {
		return
	}
	before, after := strings.Split(was, "\n"), strings.Split(now, "\n")
	for line := range max(len(before), len(after)) {
		place := at.path + fmt.Sprintf(", line %d", line+1)
		switch {
		case line >= len(before):
			d.add(place, "", lineOf(d.rules.normal(at.name, after[line])))
			return
		case line >= len(after):
			d.add(place, lineOf(d.rules.normal(at.name, before[line])), "")
			return
		}
		if x, y := d.rules.normal(at.name, before[line]), d.rules.normal(at.name, after[line]); x != y {
			if max(len(before), len(after)) == 1 {
				break
			}
			x, y = around(x, y)
			d.add(place, strconv.Quote(x), strconv.Quote(y))
			return
		}
	}
	a, b = around(a, b)
	d.add(at.path, strconv.Quote(a), strconv.Quote(b))
}

// lineOf returns a line that only one of two texts has, for display.
func lineOf(s string) string {
	if s == "" {
		return "an empty line"
	}
	return quote(s)
}

// excerptSize is how much of a text a difference shows, in bytes.
const excerptSize = 60

// around returns the parts of two long lines around their first difference.
func around(a, b string) (x, y string) {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return cut(a, at), cut(b, at)
}

// cut returns what is around a place of a text.
func cut(s string, at int) string {
	start, end := 0, len(s)
	if at > excerptSize/2 && len(s) > excerptSize {
		start = at - excerptSize/3
	}
	if end-start > excerptSize {
		end = start + excerptSize
	}
	for start > 0 && start < len(s) && !utf8.RuneStart(s[start]) {
		start--
	}
	for end < len(s) && end > start && !utf8.RuneStart(s[end]) {
		end--
	}
	text := s[min(start, len(s)):end]
	if start > 0 {
		text = "…" + text
	}
	if end < len(s) {
		text += "…"
	}
	return text
}

func quote(s string) string { return strconv.Quote(cut(s, 0)) }

// excerpt returns the beginning of a value for display; "" for an absent one.
func excerpt(v jsondoc.Value) string {
	switch v.Kind() {
	case jsondoc.Absent:
		return ""
	case jsondoc.String:
		return quote(v.Text())
	}
	return cut(strings.ToValidUTF8(string(v.Raw()), "�"), 0)
}
