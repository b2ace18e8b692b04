package jsondoc

import (
	"encoding/binary"
	"math/bits"
)

// scan puts the value that begins at p.end on the tape, and moves p.end behind it. It reports false for a value that is
// not well-formed (RFC 8259), and near a limit: then the tape is unusable, and decode finds the reason.
//
// It accepts and rejects the same texts as decode, in about half the time.
func (p *parser) scan() bool {
	data := p.data
	i := p.end
	for {
		if i = skipSpace(data, i); i == len(data) {
			return false
		}
		ok := true
		switch c := data[i]; c {
		case '{', '[':
			if len(p.open) >= maxDepth-1 {
				return false
			}
			p.begin(c, i)
			if i = skipSpace(data, i+1); i == len(data) {
				return false
			}
			if data[i] != c+2 { // "}" and "]" are two code points after "{" and "["
				if c == '{' {
					i, ok = p.memberName(i)
				}
				if !ok {
					return false
				}
				continue
			}
			i++
			p.finish(i)
		case '"':
			i, ok = p.text(i)
		case 't':
			i, ok = p.literal(i, "true", Bool)
		case 'f':
			i, ok = p.literal(i, "false", Bool)
		case 'n':
			i, ok = p.literal(i, "null", Null)
		default:
			i, ok = p.number(i)
		}
		if !ok || len(p.nodes) >= maxNodes {
			return false
		}
		done := false
		if i, done, ok = p.next(i); done || !ok {
			p.end = i
			return ok
		}
	}
}

// next moves from the end of a value, at i, to the beginning of the next one: past the ends of objects and arrays, a
// comma and a name. Done is true if the text has ended.
func (p *parser) next(i int) (at int, done, ok bool) {
	for len(p.open) > 0 {
		if i = skipSpace(p.data, i); i == len(p.data) {
			return i, false, false
		}
		f := &p.open[len(p.open)-1]
		object := p.nodes[f.node].kind == Object
		switch c := p.data[i]; {
		case c == ',' && object:
			i, ok = p.memberName(skipSpace(p.data, i+1))
			return i, false, ok
		case c == ',':
			return i + 1, false, true
		case c == '}' && object, c == ']' && !object:
			i++
			p.finish(i)
		default:
			return i, false, false
		}
	}
	return i, true, true
}

// begin puts the beginning of an object or array on the tape.
func (p *parser) begin(c byte, i int) {
	kind := Object
	if c == '[' {
		kind = Array
	}
	index := uint32(len(p.nodes))
	p.put(kind, i, i+1, false)
	p.open = append(p.open, frame{node: index})
}

// finish ends the innermost object or array behind its last byte.
func (p *parser) finish(end int) {
	p.end = end
	p.close()
}

// put puts a value on the tape.
func (p *parser) put(kind Kind, start, end int, escaped bool) {
	if len(p.nodes) == cap(p.nodes) {
		p.reserve(end)
	}
	p.nodes = append(p.nodes, node{
		start: uint32(start), end: uint32(end), after: uint32(len(p.nodes) + 1), kind: kind, escaped: escaped,
	})
	if len(p.open) > 0 {
		p.open[len(p.open)-1].count++
	}
}

// memberName puts the name that begins at i on the tape, and returns where the colon after it ends.
func (p *parser) memberName(i int) (end int, ok bool) {
	if i >= len(p.data) || p.data[i] != '"' {
		return i, false
	}
	end, escaped, ok := stringEnd(p.data, i)
	if !ok {
		return end, false
	}
	p.open[len(p.open)-1].name = uint32(len(p.nodes))
	if len(p.nodes) == cap(p.nodes) {
		p.reserve(end)
	}
	p.nodes = append(p.nodes, node{
		start: uint32(i), end: uint32(end), after: uint32(len(p.nodes) + 1),
		kind: String, escaped: escaped || p.mangled,
	})
	if end = skipSpace(p.data, end); end == len(p.data) || p.data[end] != ':' {
		return end, false
	}
	return end + 1, true
}

func (p *parser) text(i int) (end int, ok bool) {
	end, escaped, ok := stringEnd(p.data, i)
	if ok {
		p.put(String, i, end, escaped || p.mangled)
	}
	return end, ok
}

func (p *parser) literal(i int, word string, kind Kind) (end int, ok bool) {
	end = i + len(word)
	if end > len(p.data) || string(p.data[i:end]) != word {
		return i, false
	}
	p.put(kind, i, end, false)
	return end, true
}

func (p *parser) number(i int) (end int, ok bool) {
	if end, ok = numberEnd(p.data, i); ok {
		p.put(Number, i, end, false)
	}
	return end, ok
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && isSpace(data[i]) {
		i++
	}
	return i
}

// plainEnd returns the end of the plain bytes of a string from i on: at a quote, a backslash, a control character or
// the end of the text.
func plainEnd(data []byte, i int) int {
	for ; i+16 <= len(data); i += 16 {
		block := data[i : i+16]
		a, b := special(binary.LittleEndian.Uint64(block)), special(binary.LittleEndian.Uint64(block[8:]))
		if a != 0 {
			return i + bits.TrailingZeros64(a)/8
		}
		if b != 0 {
			return i + 8 + bits.TrailingZeros64(b)/8
		}
	}
	for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= ' ' {
		i++
	}
	return i
}

// special checks eight bytes for those that are not plain in a string, and returns their highest bits; 0 if all are
// plain. The lowest set bit belongs to the first such byte; bits above it may be wrong.
func special(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := x ^ ones*('"'^' ') // then a quote comes right behind the control characters
	backslash := x ^ ones*'\\'
	return ((low-ones*(' '+1))&^x | (backslash-ones)&^backslash) & highs
}

// stringEnd returns the end of the string whose first quote is at i, and whether it has an escape. Surrogates may be
// unpaired (RFC 8259 section 8.2), and bytes may not be UTF-8.
func stringEnd(data []byte, i int) (end int, escaped, ok bool) {
	for i++; ; {
		if i = plainEnd(data, i); i == len(data) {
			return i, escaped, false
		}
		switch data[i] {
		case '"':
			return i + 1, escaped, true
		case '\\':
			escaped = true
			if i, ok = escapeEnd(data, i+1); !ok {
				return i, true, false
			}
		default: // a control character
			return i, escaped, false
		}
	}
}

// escapeEnd returns where an escape ends whose backslash is right before i.
func escapeEnd(data []byte, i int) (end int, ok bool) {
	if i == len(data) {
		return i, false
	}
	switch data[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1, true
	case 'u':
		if i+5 > len(data) {
			return i, false
		}
		for _, c := range data[i+1 : i+5] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return i, false
			}
		}
		return i + 5, true
	}
	return i, false
}

// numberEnd returns where a number ends that begins at i (RFC 8259 section 6).
func numberEnd(data []byte, i int) (end int, ok bool) {
	if i < len(data) && data[i] == '-' {
		i++
	}
	switch {
	case i == len(data) || !isDigit(data[i]):
		return i, false
	case data[i] == '0':
		i++
	default:
		i = digitsEnd(data, i)
	}
	if i < len(data) && data[i] == '.' {
		begin := i + 1
		if i = digitsEnd(data, begin); i == begin {
			return i, false
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		begin := i
		if i = digitsEnd(data, begin); i == begin {
			return i, false
		}
	}
	return i, true
}

func digitsEnd(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
