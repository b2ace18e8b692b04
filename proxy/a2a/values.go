package a2a

import "bytes"

// maxValues bounds the values of one answer that are read instead of events. If there are more, the last one is read,
// too.
const maxValues = 1000

// Values returns the JSON values of an answer that has several where an event stream was expected: JSON Lines, or the
// elements of an array. The first value of JSON Lines is the answer itself; it is omitted, but Count includes it. Doc
// is the parsed body.
func (c *Call) Values(status int, body []byte, doc *Doc) (values []Doc, count int) {
	if !c.Streams || c.Batch != nil || status < 200 || status >= 300 {
		return nil, 0
	}
	add := func(one Doc) {
		if count++; len(values) < maxValues {
			values = append(values, one)
		} else {
			values[maxValues-1] = one
		}
	}
	switch {
	case doc.Trailing:
		for one := range Sequence(body) {
			if count == 0 {
				count++
				continue
			}
			add(one)
		}
	case doc.Root.Kind() == Array:
		for _, v := range doc.Root.Elems() {
			if v.Kind() != Object {
				return nil, 0
			}
			add(Doc{Root: v, InvalidUTF8: -1})
		}
	}
	return values, count
}

// Separated converts a JSON text sequence (RFC 7464): it returns the body with line feeds instead of the record
// separators, and whether the body is such a sequence.
func Separated(body []byte) ([]byte, bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte{recordSeparator}) {
		return body, false
	}
	return bytes.ReplaceAll(body, []byte{recordSeparator}, []byte("\n")), true
}

// recordSeparator begins each record of a JSON text sequence. JSON itself has the character nowhere.
const recordSeparator = 0x1e

// BareValues returns the JSON values in the lines of an event that has no data: lines without a field name, which are no
// part of the format of events.
func BareValues(raw []byte) (values []Doc) {
	raw = bytes.TrimLeft(raw, "\xef\xbb\xbf \t\r\n")
	if !bytes.HasPrefix(raw, []byte("{")) && !bytes.HasPrefix(raw, []byte("[")) {
		return nil
	}
	for one := range Sequence(raw) {
		if values = append(values, one); len(values) == maxValues {
			break
		}
	}
	return values
}
