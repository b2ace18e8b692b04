package jsondoc

import (
	"bytes"
	"iter"
)

// Bounds of Sequence.
const (
	maxSequence = 100_000   // values of a text
	maxSplit    = 256 << 10 // bytes of a text whose values may span lines, and of a line that holds several
)

// Sequence yields the values of a text that holds one after the other, such as JSON Lines. It ends before the first that is
// not well-formed. Values that share a line, or span several, are found in short texts only.
func Sequence(data []byte) iter.Seq[Doc] {
	return func(yield func(Doc) bool) {
		for range maxSequence {
			if data = bytes.TrimLeft(data, " \t\r\n"); len(data) == 0 {
				return
			}
			line, rest, _ := bytes.Cut(data, []byte("\n"))
			doc := Parse(line)
			if doc.Err != nil && doc.Err.Truncated && len(data) <= maxSplit {
				line, rest = data, nil
				doc = Parse(data)
			}
			switch {
			case doc.Err == nil:
			case doc.Trailing && len(line) <= maxSplit:
				rest = data[doc.Err.Offset:]
				doc.Err, doc.Trailing = nil, false
			default:
				return
			}
			if data = rest; !yield(doc) {
				return
			}
		}
	}
}
