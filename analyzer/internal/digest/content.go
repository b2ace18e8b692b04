package digest

import (
	"hash/crc32"

	"a2atap/proxy/a2a"
)

// A Content has digests of the contents of an artifact or a message: text and bytes as one digest, regardless of their
// division into parts; data values in their order. References to files, media types and metadata are left out. The zero
// Content is not ready to use: begin with NoContent.
type Content struct {
	text, bytes rolling
	data        Digest
}

// NoContent is the Content of an artifact without parts.
var NoContent = Content{data: Empty}

// ContentOf returns the content of parts.
func ContentOf(parts a2a.Parts) Content {
	c := NoContent
	c.Add(parts)
	return c
}

// Add appends parts.
func (c *Content) Add(parts a2a.Parts) {
	for _, part := range parts.All() {
		switch part.PartKind() {
		case a2a.TextPart:
			c.text = c.text.jsonString(part.Get("text"))
		case a2a.RawPart:
			c.bytes = c.bytes.base64(part.Bytes())
		case a2a.DataPart:
			c.data = c.data.JSON(part.Data(), "")
		}
	}
}

// SameText reports whether text and bytes are equal.
func (c Content) SameText(d Content) bool { return c.text == d.text && c.bytes == d.bytes }

// A rolling is a digest of bytes: pieces give the same digest as the whole. It consists of two CRCs, with the
// polynomials of Castagnoli and of IEEE 802.3, which processors compute faster than bodies arrive.
type rolling uint64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (r rolling) add(p []byte) rolling {
	return rolling(crc32.Update(uint32(r>>32), castagnoli, p))<<32 | rolling(crc32.Update(uint32(r), crc32.IEEETable, p))
}

// jsonString adds the text of a JSON string, regardless of its escapes; nothing if the value is not a string.
func (r rolling) jsonString(v a2a.Value) rolling {
	if v.Kind() != a2a.String {
		return r
	}
	if plain, ok := v.Literal(); ok {
		return r.add(plain)
	}
	return r.add([]byte(v.Text()))
}

// base64 adds the decoded bytes of a base64 string, in either alphabet, padded or not. It ignores invalid bytes.
func (r rolling) base64(v a2a.Value) rolling {
	text := []byte(v.Text())
	decoded := text[:0] // the write position never passes the read position
	var bits uint32
	held := 0
	for _, c := range text {
		six, ok := sextet(c)
		if !ok {
			continue
		}
		bits = bits<<6 | six
		if held += 6; held >= 8 {
			held -= 8
			decoded = append(decoded, byte(bits>>held))
		}
	}
	return r.add(decoded)
}

func sextet(c byte) (uint32, bool) {
	switch {
	case 'A' <= c && c <= 'Z':
		return uint32(c - 'A'), true
	case 'a' <= c && c <= 'z':
		return uint32(c-'a') + 26, true
	case '0' <= c && c <= '9':
		return uint32(c-'0') + 52, true
	case c == '+', c == '-':
		return 62, true
	case c == '/', c == '_':
		return 63, true
	}
	return 0, false
}
