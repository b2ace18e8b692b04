package proxy

import (
	"bytes"
	"strconv"
	"strings"
)

// A headEdit changes the fields of one raw head and leaves every other byte as it is.
type headEdit struct {
	lines [][]byte // with their ends, the start line first and the blank line last
}

func editHead(raw []byte) *headEdit {
	return &headEdit{lines: bytes.SplitAfter(raw, []byte("\n"))}
}

// fieldValue returns the value of the first field of that name in a raw head, in any case, without the blanks around
// it; nil if there is none. It allocates nothing, since it runs in the path of the traffic.
func fieldValue(head []byte, name string) []byte {
	_, head, _ = bytes.Cut(head, lineFeed)
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, lineFeed)
		if len(line) <= len(name) || line[len(name)] != ':' || !bytes.EqualFold(line[:len(name)], []byte(name)) {
			continue
		}
		return bytes.Trim(line[len(name)+1:], " \t\r")
	}
	return nil
}

var lineFeed = []byte{'\n'}

// each calls change with the value of each field of that name, in any case. The field gets the value returned; if
// change returns false it is left out. Fields that get the same value keep their bytes.
func (h *headEdit) each(name string, change func(value string) (string, bool)) {
	kept := h.lines[:1]
	for _, line := range h.lines[1:] {
		field, rest, found := bytes.Cut(line, []byte(":"))
		if !found || !strings.EqualFold(string(field), name) {
			kept = append(kept, line)
			continue
		}
		text := bytes.TrimRight(rest, "\r\n")
		was := string(bytes.Trim(text, " \t"))
		now, keep := change(was)
		if !keep {
			continue
		}
		if now != was {
			line = bytes.Join([][]byte{field, []byte(": "), []byte(now), rest[len(text):]}, nil)
		}
		kept = append(kept, line)
	}
	h.lines = kept
}

// drop leaves all fields of that name out, and returns their values.
func (h *headEdit) drop(name string) (values []string) {
	h.each(name, func(value string) (string, bool) {
		values = append(values, value)
		return "", false
	})
	return values
}

// set gives the first field of that name the value and leaves the others out. Without one it adds it at the end. It
// returns the values that there were.
func (h *headEdit) set(name, value string) (was []string) {
	h.each(name, func(old string) (string, bool) {
		was = append(was, old)
		return value, len(was) == 1
	})
	if len(was) == 0 {
		for i := len(h.lines) - 1; i > 0; i-- {
			if len(bytes.TrimRight(h.lines[i], "\r\n")) > 0 {
				continue
			}
			if len(h.lines[i]) > 0 {
				field := []byte(name + ": " + value + "\r\n")
				h.lines = append(h.lines[:i:i], append([][]byte{field}, h.lines[i:]...)...)
				break
			}
		}
	}
	return was
}

// bytes returns the head.
func (h *headEdit) bytes() []byte { return bytes.Join(h.lines, nil) }

// digestFields carry a digest of the content or of the representation, which does not hold for a rewritten one: RFC
// 9530, RFC 3230, RFC 1864.
var digestFields = []string{"Digest", "Content-Digest", "Repr-Digest", "Content-MD5"}

// withoutDigests drops digests from a trailer section.
func withoutDigests(trailer []byte) []byte {
	if len(trailer) == 0 {
		return nil
	}
	h := editHead(append([]byte("\n"), trailer...)) // fields stand behind a start line
	for _, name := range digestFields {
		h.drop(name)
	}
	return h.bytes()[1:]
}

// appendChunked appends content as one chunk, with a trailer section: RFC 9112 section 7.1.
func appendChunked(out, content, trailer []byte) []byte {
	if len(content) > 0 {
		out = strconv.AppendInt(out, int64(len(content)), 16)
		out = append(out, "\r\n"...)
		out = append(out, content...)
		out = append(out, "\r\n"...)
	}
	out = append(out, "0\r\n"...)
	out = append(out, trailer...)
	if n := len(trailer); n > 0 && trailer[n-1] != '\n' {
		out = append(out, "\r\n"...)
	}
	return append(out, "\r\n"...)
}
