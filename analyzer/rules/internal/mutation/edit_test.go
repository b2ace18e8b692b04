package mutation_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/capture"
)

// makeValue returns the value of a JSON text.
func makeValue(text string) *value {
	if v, ok := parseValue(text); ok {
		return v
	}
	var o value
	o.add("x", text)
	return o.members[0].value
}

// put gives a member a value, whether it was there or not.
func (v *value) put(name, text string) {
	for i, m := range v.members {
		if m.name == strconv.Quote(name) {
			v.members[i].value = makeValue(text)
			return
		}
	}
	v.add(name, text)
}

func (v *value) remove(name string) bool {
	before := len(v.members)
	v.members = slices.DeleteFunc(v.members, func(m member) bool { return m.name == strconv.Quote(name) })
	return len(v.members) < before
}

// str returns the text of a string without escapes; empty if it does not exist.
func (v *value) str(path ...string) string {
	for _, name := range path {
		if v == nil {
			return ""
		}
		v = v.get(name)
	}
	if v == nil || v.kind != '"' {
		return ""
	}
	return strings.Trim(v.raw, `"`)
}

// set replaces the value of a member that is there and not null; a path names members of members.
func set(path, text string) func(*spot) bool {
	return func(s *spot) bool {
		o, name := within(s.o, path)
		if o == nil || !o.has(name) || o.get(name).kind == 'n' || o.get(name).text("") == text {
			return false
		}
		o.put(name, text)
		return true
	}
}

// give adds a member that is not there.
func give(path, text string) func(*spot) bool {
	return func(s *spot) bool {
		o, name := within(s.o, path)
		if o == nil || o.kind != '{' || o.has(name) {
			return false
		}
		o.add(name, text)
		return true
	}
}

// put sets a member, whether it is there or not.
func put(path, text string) func(*spot) bool {
	return func(s *spot) bool {
		o, name := within(s.o, path)
		if o == nil || o.kind != '{' {
			return false
		}
		o.put(name, text)
		return true
	}
}

// drop removes a member.
func dropped(path string) func(*spot) bool {
	return func(s *spot) bool {
		o, name := within(s.o, path)
		return o != nil && o.remove(name)
	}
}

// rename gives a member another name.
func rename(from, to string) func(*spot) bool {
	return func(s *spot) bool {
		for i, m := range s.o.members {
			if m.name == strconv.Quote(from) {
				s.o.members[i].name = strconv.Quote(to)
				return true
			}
		}
		return false
	}
}

// within returns the object that has the last member of a path.
func within(o *value, path string) (*value, string) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		if o != nil {
			o = o.get(name)
		}
	}
	return o, names[len(names)-1]
}

// become replaces the object itself.
func become(text string) func(*spot) bool {
	return func(s *spot) bool { *s.o = *makeValue(text); return true }
}

// when applies an edit where a condition holds.
func when(condition func(*spot) bool, edit func(*spot) bool) func(*spot) bool {
	return func(s *spot) bool { return condition(s) && edit(s) }
}

// both applies several edits, all of which have to fit.
func both(edits ...func(*spot) bool) func(*spot) bool {
	return func(s *spot) bool {
		return !slices.ContainsFunc(edits, func(edit func(*spot) bool) bool { return !edit(s) })
	}
}

// either applies the first edit that fits.
func either(edits ...func(*spot) bool) func(*spot) bool {
	return func(s *spot) bool {
		return slices.ContainsFunc(edits, func(edit func(*spot) bool) bool { return edit(s) })
	}
}

// asked holds where one of the operations is asked for.
func asked(operations string) func(*spot) bool {
	list := strings.Fields(operations)
	return func(s *spot) bool { return slices.Contains(list, s.kind.operation) }
}

// has holds where an object has a member.
func has(name string) func(*spot) bool { return func(s *spot) bool { return s.o.has(name) } }

// lacks holds where an object lacks a member.
func lacks(name string) func(*spot) bool { return func(s *spot) bool { return !s.o.has(name) } }

// is holds where a string member has one of the values.
func is(path string, values ...string) func(*spot) bool {
	return func(s *spot) bool {
		o, name := within(s.o, path)
		return o != nil && slices.Contains(values, o.str(name))
	}
}

// Edits of whole exchanges.

var endOfLine = regexp.MustCompile(`^[^\r]*`)

// requestLine changes the first line of the request.
func requestLine(pattern, by string) func(*spot) bool {
	p := regexp.MustCompile(pattern)
	return func(s *spot) bool {
		x := s.x()
		line := endOfLine.FindString(string(x.Request.Head))
		now := p.ReplaceAllString(line, by)
		x.Request.Head = []byte(now + string(x.Request.Head[len(line):]))
		return now != line
	}
}

// status changes the status of an answer.
func status(to string) func(*spot) bool {
	return func(s *spot) bool {
		r := s.x().Response
		if r == nil || s.kind.status == "" || strings.HasPrefix(to, s.kind.status) {
			return false
		}
		line := endOfLine.FindString(string(r.Head))
		r.Head = []byte("HTTP/1.1 " + to + string(r.Head[len(line):]))
		return true
	}
}

// header gives a field of the request another value; no value removes it.
func header(name, value string) func(*spot) bool {
	return func(s *spot) bool { return setHeader(&s.x().Request.Head, name, value) }
}

// label does so for the answer.
func label(name, value string) func(*spot) bool {
	return func(s *spot) bool { return s.x().Response != nil && setHeader(&s.x().Response.Head, name, value) }
}

// moreHeader adds a field to the request, moreLabel to the answer.
func moreHeader(line string) func(*spot) bool {
	return func(s *spot) bool { return addLine(&s.x().Request.Head, line) }
}

func moreLabel(line string) func(*spot) bool {
	return func(s *spot) bool { return s.x().Response != nil && addLine(&s.x().Response.Head, line) }
}

func addLine(head *[]byte, line string) bool {
	*head = []byte(strings.TrimSuffix(string(*head), "\r\n") + line + "\r\n\r\n")
	return true
}

func setHeader(head *[]byte, name, value string) bool {
	p := regexp.MustCompile(`(?mi)^` + name + `: *([^\r]*)\r\n`)
	found := p.FindSubmatch(*head)
	if found == nil || string(found[1]) == value {
		return false
	}
	line := name + ": " + value + "\r\n"
	if value == "" {
		line = ""
	}
	*head = p.ReplaceAllLiteral(*head, []byte(line))
	return true
}

// body replaces the body of the answer, or of the request.
func body(text string) func(*spot) bool {
	return bodies(func(*spot, string) string { return text })
}

func bodies(change func(s *spot, old string) string) func(*spot) bool {
	return func(s *spot) bool {
		r := s.x().Response
		if r == nil || r.Stream || len(r.Body.Data) == 0 {
			return false
		}
		return setText(&r.Body, &r.Head, change(s, string(r.Body.Data)))
	}
}

func requestBody(change func(s *spot, old string) string) func(*spot) bool {
	return func(s *spot) bool {
		r := &s.x().Request
		return len(r.Body.Data) > 0 && setText(&r.Body, &r.Head, change(s, string(r.Body.Data)))
	}
}

func setText(b *capture.Body, head *[]byte, text string) bool {
	if text == string(b.Data) {
		return false
	}
	old := len(b.Data)
	b.Data = []byte(text)
	if b.Size != capture.NotKnown {
		b.Size = int64(len(text))
	}
	*head = bytes.ReplaceAll(*head, fmt.Appendf(nil, "Content-Length: %d\r", old),
		fmt.Appendf(nil, "Content-Length: %d\r", len(text)))
	return true
}

// called holds for exchanges of one of the operations that succeeded.
func called(operations string) func(*spot) bool {
	list := strings.Fields(operations)
	return func(s *spot) bool {
		return slices.Contains(list, s.kind.operation) && s.kind.status == "200" && s.x().Response != nil &&
			(s.x().Response.Stream || !bytes.Contains(s.x().Response.Body.Data, []byte(`"error":`)))
	}
}

// refused holds for exchanges that were answered with an error.
func refused(s *spot) bool {
	r := s.x().Response
	return r != nil && !r.Stream && s.kind.operation != "" && s.kind.operation != "hook" &&
		s.kind.operation != "fetch" &&
		(s.kind.status >= "400" || bytes.Contains(r.Body.Data, []byte(`"error":`)))
}

func jsonInt(n int) string { return strconv.Itoa(n) }

// swap replaces one text by another.
func swap(from, to string) func(*spot, string) string {
	return func(_ *spot, old string) string { return strings.Replace(old, from, to, 1) }
}

// saying holds for exchanges whose answer holds a text.
func saying(text string) func(*spot) bool {
	return func(s *spot) bool { return bytes.Contains(s.x().Response.Body.Data, []byte(text)) }
}

// first returns the first element of a member; nil if it does not exist.
func first(o *value, name string) *value {
	if list := o.get(name).list(); len(list) > 0 {
		return list[0]
	}
	return nil
}
