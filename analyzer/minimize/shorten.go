package minimize

import (
	"encoding/json"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// longText is the maximum length of a text, in characters, before it is shortened.
const longText = 40

// shorten truncates long texts wherever they are: prose, that is, strings with blanks, and encoded bytes.
func (j *judge) shorten() {
	for _, long := range j.values(isLong) {
		j.exchangeValue(long, short(long))
	}
}

func isLong(name, value string) bool {
	if len([]rune(value)) <= longText {
		return false
	}
	return strings.ContainsAny(value, " \n") || name == "bytes" || name == "raw"
}

// short returns the beginning of a text: whole words, or whole groups of base64.
func short(value string) string {
	runes := []rune(value)
	if !strings.ContainsAny(value, " \n") {
		return string(runes[:longText])
	}
	begin := string(runes[:longText])
	if i := strings.LastIndexAny(begin, " \n"); i > 0 {
		begin = begin[:i]
	}
	return begin
}

// values returns the distinct wanted strings in the exchanges' JSON, in order of appearance. wanted receives the
// member's name; elements of an array have the array's.
func (j *judge) values(wanted func(name, value string) bool) []string {
	var list []string
	seen := make(map[string]bool)
	for _, x := range j.now {
		for _, t := range textsOf(x) {
			doc := jsondoc.Parse(t.get(x))
			if doc.Err != nil {
				continue
			}
			eachString(doc.Root, "", func(name string, v jsondoc.Value) {
				if text := v.Text(); !seen[text] && wanted(name, text) {
					seen[text] = true
					list = append(list, text)
				}
			})
		}
	}
	return list
}

// eachString visits the strings in a JSON value.
func eachString(v jsondoc.Value, name string, f func(name string, v jsondoc.Value)) {
	switch v.Kind() {
	case jsondoc.String:
		f(name, v)
	case jsondoc.Object:
		for name, member := range v.Members() {
			eachString(member, name, f)
		}
	case jsondoc.Array:
		for _, element := range v.Elems() {
			eachString(element, name, f)
		}
	}
}

// exchangeValue tries to replace one string with another wherever it is a whole JSON value.
func (j *judge) exchangeValue(was, is string) bool {
	return j.rewrite(func(x *capture.Exchange) { replaceStrings(x, was, is) })
}

// rewrite tries copies of all exchanges that were changed by edit.
func (j *judge) rewrite(edit func(*capture.Exchange)) bool {
	list := make([]*capture.Exchange, len(j.now))
	for i := range j.now {
		list[i] = j.now[i].Copy()
		edit(list[i])
	}
	return j.try(list)
}

// replaceStrings replaces one string with another in the JSON of an exchange.
func replaceStrings(x *capture.Exchange, was, is string) {
	for _, t := range textsOf(x) {
		body := t.get(x)
		doc := jsondoc.Parse(body)
		if doc.Err != nil {
			continue
		}
		if changed := withStrings(body, doc.Root, was, is); len(changed) > 0 {
			t.set(x, changed)
		}
	}
}

// withStrings returns a JSON text with one string replaced by another, or nil if the text does not contain it.
func withStrings(text []byte, root jsondoc.Value, was, is string) []byte {
	var out []byte
	done := 0
	eachString(root, "", func(_ string, v jsondoc.Value) {
		if now, ok := renamed(v.Text(), was, is); ok {
			out = slices.Concat(out, text[done:v.Offset()], quote(now))
			done = v.Offset() + len(v.Raw())
		}
	})
	if done == 0 {
		return nil
	}
	return append(out, text[done:]...)
}

// renamed replaces a string with another: as a whole, or as a segment of a resource name of 0.3 over gRPC, such as
// tasks/t1.
func renamed(text, was, is string) (string, bool) {
	if text == was {
		return is, true
	}
	if !isResource(text) {
		return text, false
	}
	segments := strings.Split(text, "/")
	found := false
	for i := 1; i < len(segments); i += 2 {
		if segments[i] == was {
			segments[i], found = is, true
		}
	}
	return strings.Join(segments, "/"), found
}

func isResource(text string) bool { return strings.HasPrefix(text, "tasks/") }

// quote writes a string in JSON, with the characters as they are.
func quote(s string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) //nolint:errcheck // a string in memory
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
