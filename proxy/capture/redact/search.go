package redact

import (
	"bytes"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// A search goes through a body or an event for its secrets.
type search struct {
	*mask
	set *placeSet // of the places that are known beforehand
}

// An edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// splice returns a copy of data with the edits made, or data itself without edits. If edits overlap, splice makes the
// one that begins first.
func splice(data []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return data
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	size := len(data)
	for _, e := range edits {
		size += len(e.text)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue
		}
		out = append(append(out, data[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, data[at:]...)
}

// shifted returns edits of what begins at an offset.
func shifted(edits []edit, by int) []edit {
	for i := range edits {
		edits[i].start += by
		edits[i].end += by
	}
	return edits
}

func nameByte(c byte) bool {
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	return letter || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func skipBlanks(text []byte, i int) int {
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	return i
}

// skipQuote returns the position after the quote at i: single, double, or with backslashes in front.
func skipQuote(text []byte, i int) int {
	at := i
	for at < len(text) && text[at] == '\\' {
		at++
	}
	if at < len(text) && (text[at] == '"' || text[at] == '\'') {
		return at + 1
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// trimFront removes what may precede JSON: a byte order mark and blanks.
func trimFront(data []byte) []byte { return bytes.TrimLeft(capture.TrimBOM(data), " \t\r\n") }

// looksLikeJSON reports whether data begins as JSON that can hold something.
func looksLikeJSON(data []byte) bool {
	data = trimFront(data)
	return len(data) > 0 && strings.IndexByte(`{["`, data[0]) >= 0
}

// settle repeats the edits until look finds nothing more, so that redacting the result again does not change it. JSON
// that is cut off or broken must stay so, in the same way. Otherwise the rules would check content that no one has
// sent.
func settle(text []byte, look func([]byte) []edit) ([]byte, error) {
	now := text
	for range maxLooks {
		edits := look(now)
		if len(edits) == 0 {
			if len(now) > 0 && &now[0] != &text[0] && !sameFault(text, now) {
				return nil, errUnsettled
			}
			return now, nil
		}
		now = splice(now, edits)
	}
	return nil, errUnsettled
}

// maxLooks bounds how often a text is looked at until nothing more is found in it.
const maxLooks = 8

// sameFault reports whether both texts are JSON, or neither is, and both are cut off or neither is.
func sameFault(was, is []byte) bool {
	if !looksLikeJSON(was) && !looksLikeJSON(is) {
		return true
	}
	a, b := jsondoc.Parse(was).Err, jsondoc.Parse(is).Err
	if a == nil || b == nil {
		return a == b
	}
	return a.Truncated == b.Truncated && a.Limit == b.Limit
}
