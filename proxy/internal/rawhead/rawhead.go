// Package rawhead reads and edits the heads of HTTP messages in wire form, without parsing them into fields: unchanged
// parts keep their bytes, order and case.
//
// [Value] reads one field in the path of the traffic and allocates nothing. An [Edit] changes fields of one head.
// [Frame] combines a changed head and a changed body in the sender's framing.
package rawhead

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/capture"
)

// An Edit changes the fields of one raw head and leaves every other byte as it is.
type Edit struct {
	lines [][]byte // with their ends, the start line first and the blank line last
}

// NewEdit begins to change a raw head, which it leaves as it is.
func NewEdit(raw []byte) *Edit {
	return &Edit{lines: bytes.SplitAfter(raw, []byte("\n"))}
}

// Value returns the value of the first field with the name in a raw head, case-insensitively, without surrounding
// blanks; nil if it is missing. It allocates nothing, since it runs in the path of the traffic.
func Value(head []byte, name string) []byte {
	for at := bytes.IndexByte(head, '\n') + 1; at > 0 && at < len(head); {
		line := head[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		if len(line) > len(name) && line[len(name)] == ':' && bytes.EqualFold(line[:len(name)], []byte(name)) {
			return bytes.Trim(line[len(name)+1:], " \t\r")
		}
		at += len(line) + 1
	}
	return nil
}

var lineFeed = []byte{'\n'}

// StartLine returns the first line of a raw head, without its end.
func StartLine(head []byte) []byte {
	line, _, _ := bytes.Cut(head, lineFeed)
	return bytes.TrimSuffix(line, []byte("\r"))
}

// Each calls change with the value of each field of that name, in any case. The field gets the value returned; if
// change returns false it is left out. Fields that get the same value keep their bytes.
func (h *Edit) Each(name string, change func(value string) (string, bool)) {
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

// Drop leaves all fields of that name out, and returns their values.
func (h *Edit) Drop(name string) (values []string) {
	h.Each(name, func(value string) (string, bool) {
		values = append(values, value)
		return "", false
	})
	return values
}

// Set gives the first field of that name the value and leaves the others out. Without one it adds it at the end. It
// returns the values that there were.
func (h *Edit) Set(name, value string) (was []string) {
	h.Each(name, func(old string) (string, bool) {
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

// SetTarget puts another target into the start line of a request.
func (h *Edit) SetTarget(target string) {
	if method, rest, ok := strings.Cut(string(h.lines[0]), " "); ok {
		if end := strings.LastIndexByte(rest, ' '); end >= 0 {
			h.lines[0] = []byte(method + " " + target + rest[end:])
		}
	}
}

// Bytes returns the head.
func (h *Edit) Bytes() []byte { return bytes.Join(h.lines, nil) }

// digestFields carry a digest of the content or of the representation, which is wrong for a rewritten one: RFC 9530,
// RFC 3230, RFC 1864.
var digestFields = []string{"Digest", "Content-Digest", "Repr-Digest", "Content-MD5"}

// WithoutDigests drops digests from a trailer section.
func WithoutDigests(trailer []byte) []byte {
	if len(trailer) == 0 {
		return nil
	}
	h := NewEdit(append([]byte("\n"), trailer...)) // fields come after a start line
	for _, name := range digestFields {
		h.Drop(name)
	}
	return h.Bytes()[1:]
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

// DropDigests leaves out all fields that carry a digest, which would be wrong for another body.
func DropDigests(edit *Edit) {
	for _, name := range digestFields {
		edit.Drop(name)
	}
}

// Frame puts head and content together, framed as the agent framed them: by length, in chunks (one now, the trailer
// behind it), or by the end of the connection.
func Frame(edit *Edit, h *capture.Head, content, trailer []byte) []byte {
	if h.Fields.Has("Transfer-Encoding") {
		return appendChunked(edit.Bytes(), content, trailer)
	}
	if h.Fields.Has("Content-Length") {
		edit.Set("Content-Length", strconv.Itoa(len(content)))
	}
	return append(bytes.Clone(edit.Bytes()), content...)
}

// IsCoded reports whether the body behind a head has a content coding.
func IsCoded(head []byte) bool {
	coding := Value(head, "Content-Encoding")
	return len(coding) > 0 && !bytes.EqualFold(coding, []byte("identity"))
}

// HasDigest reports whether a head has a digest of its body.
func HasDigest(head []byte) bool {
	for _, name := range digestFields {
		if Value(head, name) != nil {
			return true
		}
	}
	return false
}

// IsJSON reports whether a media type is JSON, by its name or its suffix (RFC 6839 section 3.1), or absent.
func IsJSON(mediaType string) bool {
	return mediaType == "" || mediaType == "application/json" || mediaType == "text/json" ||
		strings.HasSuffix(mediaType, "+json")
}

// Rewrite is the record of a changed field of a head.
func Rewrite(side, name string, was []string, now string) []capture.Rewrite {
	if len(was) == 1 && was[0] == now {
		return nil
	}
	if len(was) == 0 {
		was = []string{""}
	}
	return []capture.Rewrite{{
		Place: side + ".header[" + name + "]", Was: strings.Join(slices.Clip(was), ", "),
		Now: now,
	}}
}
