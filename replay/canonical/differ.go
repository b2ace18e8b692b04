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
	if a, b := r.place(recorded), r.place(live); a != b {
		d.add("path", quote(a), quote(b))
	}
	d.values("query", was.query, now.query)
	d.values("", was.body, now.body)
	return d.list
}

// A differ collects differences.
type differ struct {
	rules *Rules
	w     writer
	list  []Difference
	most  int
}

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
func (d *differ) same(a, b jsondoc.Value) bool { return bytes.Equal(d.written(a), d.written(b)) }

func (d *differ) written(v jsondoc.Value) []byte {
	w := d.w
	w.value(v, 0)
	return w.out
}

func (d *differ) values(at string, was, now jsondoc.Value) {
	switch {
	case d.full():
	case was.Kind() != now.Kind():
		d.add(at, excerpt(was), excerpt(now))
	case was.Kind() == jsondoc.Object:
		d.objects(at, d.w.members(was), d.w.members(now))
	case was.Kind() == jsondoc.Array:
		d.arrays(at, d.w.elements(was), d.w.elements(now))
	case was.Kind() == jsondoc.String:
		d.texts(at, was.Text(), now.Text())
	case !d.same(was, now):
		d.add(at, excerpt(was), excerpt(now))
	}
}

func (d *differ) objects(at string, was, now []member) {
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].name < now[0].name:
			d.values(below(at, was[0].name), was[0].value, jsondoc.Value{})
			was = was[1:]
		case len(was) == 0 || now[0].name < was[0].name:
			d.values(below(at, now[0].name), jsondoc.Value{}, now[0].value)
			now = now[1:]
		default:
			d.values(below(at, now[0].name), was[0].value, now[0].value)
			was, now = was[1:], now[1:]
		}
	}
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// arrays compares elements by their place, after those at the beginning and the end that are equal.
func (d *differ) arrays(at string, was, now []jsondoc.Value) {
	first := 0
	for first < min(len(was), len(now)) && d.same(was[first], now[first]) {
		first++
	}
	for len(was) > first && len(now) > first && d.same(was[len(was)-1], now[len(now)-1]) {
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
		d.values(at+"["+strconv.Itoa(i)+"]", a, b)
	}
}

// texts compares two texts line by line, and shows them as they are compared.
func (d *differ) texts(at, was, now string) {
	a, b := d.rules.normal(was), d.rules.normal(now)
	if a == b {
		return
	}
	before, after := strings.Split(was, "\n"), strings.Split(now, "\n")
	line := 0
	for line < min(len(before), len(after)) && d.rules.normal(before[line]) == d.rules.normal(after[line]) {
		line++
	}
	if max(len(before), len(after)) > 1 {
		at += fmt.Sprintf(", line %d", line+1)
	}
	var x, y string
	if line < len(before) {
		x = d.rules.normal(before[line])
	}
	if line < len(after) {
		y = d.rules.normal(after[line])
	}
	x, y = around(x, y)
	switch {
	case line >= len(before):
		d.add(at, "", strconv.Quote(y))
	case line >= len(after):
		d.add(at, strconv.Quote(x), "")
	default:
		d.add(at, strconv.Quote(x), strconv.Quote(y))
	}
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
