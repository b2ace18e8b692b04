package digest

import "a2atap/proxy/a2a"

// A Content is what an artifact or a message holds, as digests: text and bytes as one, however they are cut into parts;
// data values in their order. References to files, media types and metadata are left out. The zero Content is not ready
// to use: begin with NoContent.
type Content struct{ text, bytes, data Digest }

// NoContent is what an artifact without parts holds.
var NoContent = Content{Empty, Empty, Empty}

// ContentOf returns what parts hold.
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
			c.text = c.text.JSONString(part.Get("text"))
		case a2a.RawPart:
			c.bytes = c.bytes.Base64(part.Bytes())
		case a2a.DataPart:
			c.data = c.data.JSON(part.Data(), "").Byte(',')
		}
	}
}

// SameText reports whether text and bytes are equal.
func (c Content) SameText(d Content) bool { return c.text == d.text && c.bytes == d.bytes }
