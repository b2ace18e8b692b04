package redact

import (
	"bytes"
	"slices"

	"a2atap/proxy/capture"
)

// A headReading is a well-formed head, with all results of reading it.
type headReading struct {
	raw    []byte
	head   *capture.Head   // the parsed form of raw
	now    []byte          // raw without its secrets; raw itself if it has none
	parsed *capture.Parsed // the parsed form of now
	agent  *learned        // the known names of the agent
}

// lastHeads are the most recent heads, by connection. A peer sends the same head again and again, except for lengths,
// dates and ids, so little of the next head has to be read.
type lastHeads [64]headReading

// maxLastHead is the longest head that is kept, in bytes.
const maxLastHead = 4 << 10

// readHead parses a head and returns it without its secrets, and the parsed form of the result if it is known. The note
// names what was left out as a whole.
func (r *redactor) readHead(o *openExchange, raw []byte, kind headKind) (
	head *capture.Head, now []byte, note string, parsed *capture.Parsed,
) {
	if r.opts.Keep {
		head = parseHead(raw, kind)
		return head, raw, "", &capture.Parsed{Head: head}
	}
	m := r.maskFor(o)
	last := &r.heads[kind][o.x.Conn%uint64(len(lastHeads{}))]
	next, ok := last.next(m, raw)
	if !ok {
		head = parseHead(raw, kind)
		var without *capture.Head
		now, without, ok = m.plainHead(raw, head, kind)
		next = headReading{raw, head, now, &capture.Parsed{Head: without}, m.agent}
	}
	if ok {
		if len(raw) <= maxLastHead {
			*last = next
		}
		return next.head, next.now, "", next.parsed
	}
	foreign := foreignRequest
	if kind == answerHead {
		foreign = foreignAnswer
	}
	kept, note := foreign(raw, head)
	if now = m.head(kept, kind); note != "" || !bytes.Equal(now, raw) {
		return head, now, note, nil
	}
	return head, raw, "", &capture.Parsed{Head: head}
}

func parseHead(raw []byte, kind headKind) *capture.Head {
	if kind == answerHead {
		return new(capture.ParseResponseHead(raw))
	}
	return new(capture.ParseRequestHead(raw))
}

// next returns the reading of a head that differs only in values without secrets. For any other head, ok is false.
func (k *headReading) next(m *mask, raw []byte) (next headReading, ok bool) {
	if k.head == nil || k.agent != m.agent {
		return headReading{}, false
	}
	next = headReading{raw, k.head, raw, k.parsed, k.agent}
	hides := !same(k.now, k.raw)
	if bytes.Equal(raw, k.raw) {
		if hides {
			next.now = k.now
		}
		return next, true
	}
	var fields capture.Fields // with those that are new
	var now []byte
	if hides {
		now = make([]byte, 0, max(0, len(k.now)-len(k.raw)+len(raw)))
	}
	was, wasNow, is := k.raw, k.now, raw
	for i := -1; len(was) > 0; i++ {
		line, lineNow := firstLine(was), firstLine(wasNow)
		was, wasNow = was[len(line):], wasNow[len(lineNow):]
		if !bytes.HasPrefix(is, line) {
			if i < 0 || i >= len(k.head.Fields) {
				return headReading{}, false
			}
			line = firstLine(is)
			value, ok := m.plainValue(line, k.head.Fields[i].Name)
			if !ok {
				return headReading{}, false
			}
			if fields == nil {
				fields = slices.Clone(k.head.Fields)
			}
			fields[i].Value = value
			lineNow = line
		}
		is = is[len(line):]
		if hides {
			now = append(now, lineNow...)
		}
	}
	if len(is) > 0 {
		return headReading{}, false
	}
	next.head = new(*k.head)
	next.head.Fields = fields
	without := next.head
	if hides {
		without = new(*k.parsed.Head)
		without.Fields = slices.Clone(fields)
		for i, f := range k.parsed.Head.Fields {
			if fields[i] == k.head.Fields[i] { // it may be hidden
				without.Fields[i] = f
			}
		}
		next.now = now
	}
	next.parsed = &capture.Parsed{Head: without}
	return next, true
}

// plainValue returns the value of a line of a head, with its line ending, if the line is a field of that name, follows
// the grammar, and holds no secret.
func (m *mask) plainValue(line []byte, name string) (value string, ok bool) {
	n := len(name)
	if len(line) < n+2 || string(line[:n]) != name || line[n] != ':' || line[len(line)-1] != '\n' {
		return "", false
	}
	text := bytes.TrimSuffix(line[n+1:len(line)-1], []byte{'\r'})
	if bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, 0) >= 0 || hasURLSign(text) ||
		marksOf(line)&^markURL != 0 || m.header(name).Hidden() || isEncoded(name) || namesUser(name, string(text)) {
		return "", false
	}
	return string(bytes.Trim(text, " \t")), true
}

// firstLine returns the first line of a text with its end, or all of it.
func firstLine(text []byte) []byte {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return text[:n+1]
	}
	return text
}
