package transcript

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"a2atap/proxy/safetext"
)

// A section is one file of a txtar archive.
type section struct {
	name    string
	content []byte // never nil; ends with LF unless it is empty
	line    int    // number of the marker's line, from 1
}

// parseArchive splits a txtar archive into its comment and its sections. It accepts the same input as
// golang.org/x/tools/txtar, and also records line numbers.
func parseArchive(data []byte) (comment string, sections []section) {
	if n := len(data); n > 0 && data[n-1] != '\n' {
		data = append(bytes.Clone(data), '\n')
	}
	start := 0 // of the content at hand
	flush := func(end int) {
		if len(sections) == 0 {
			comment = string(data[:end])
		} else {
			sections[len(sections)-1].content = bytes.Clone(data[start:end])
		}
	}
	pos, line := 0, 0
	for pos < len(data) {
		line++
		end := pos + bytes.IndexByte(data[pos:], '\n') + 1
		if name, ok := markerName(data[pos:end]); ok {
			flush(pos)
			start = end
			sections = append(sections, section{name: name, line: line})
		}
		pos = end
	}
	flush(len(data))
	for i := range sections {
		if sections[i].content == nil {
			sections[i].content = []byte{}
		}
	}
	return comment, sections
}

// markerName returns the name in a line "-- NAME --".
func markerName(line []byte) (string, bool) {
	s := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	if len(s) < len("-- x --") || !strings.HasPrefix(s, "-- ") || !strings.HasSuffix(s, " --") {
		return "", false
	}
	name := strings.TrimSpace(s[3 : len(s)-3])
	return name, name != ""
}

// isText reports whether an archive can contain a text as is: UTF-8, no control characters except tabs and line feeds,
// no markers.
func isText(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	if bytes.ContainsFunc(data, safetext.IsControl) {
		return false
	}
	for line := range bytes.Lines(data) {
		if _, marker := markerName(line); marker {
			return false
		}
	}
	return true
}

// headText returns a raw head as lines that end with LF, without the blank line, if headBytes can make the same of
// them.
func headText(raw []byte) (text []byte, ok bool) {
	text = bytes.ReplaceAll(bytes.TrimSuffix(raw, []byte("\r\n")), []byte("\r\n"), []byte("\n"))
	ok = len(text) > 0 && isText(text) && bytes.Equal(headBytes(text), raw)
	return text, ok && !bytes.HasPrefix(text, []byte("\n")) && !bytes.Contains(text, []byte("\n\n"))
}

// headBytes returns the raw head of lines that end with LF or CRLF.
func headBytes(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return append(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), "\r\n"...)
}

// cutHead cuts the content of a section at its first blank line. The head keeps the ends of its lines.
func cutHead(content []byte) (head, body []byte) {
	pos := 0
	for line := range bytes.Lines(content) {
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return content[:pos], content[pos+len(line):]
		}
		pos += len(line)
	}
	return content, content[pos:]
}

// bodyFlags is how a body is encoded in a section.
type bodyFlags struct{ base64, crlf, noNewline bool }

// bodyText returns how to encode a body in a section, as legibly as possible.
func bodyText(data []byte) ([]byte, bodyFlags) {
	var f bodyFlags
	text := data
	if bytes.IndexByte(data, '\r') >= 0 {
		f.crlf = true
		text = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		f.noNewline = true
		text = append(bytes.Clone(text), '\n')
	}
	if isText(text) {
		if again, err := f.bytes(text); err == nil && bytes.Equal(again, data) {
			return text, f
		}
	}
	return wrapBase64(data), bodyFlags{base64: true}
}

// bytes returns the body that a section holds.
func (f bodyFlags) bytes(text []byte) ([]byte, error) {
	if f.base64 {
		return unwrapBase64(text)
	}
	if f.noNewline {
		if len(text) == 0 {
			return nil, fmt.Errorf("there is no newline to take off")
		}
		text = text[:len(text)-1]
	}
	if f.crlf {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return append([]byte{}, text...), nil
}

// wrapBase64 returns base64 in lines of 76 characters.
func wrapBase64(data []byte) []byte {
	var b bytes.Buffer
	for text := base64.StdEncoding.EncodeToString(data); text != ""; {
		n := min(len(text), 76)
		b.WriteString(text[:n])
		b.WriteByte('\n')
		text = text[n:]
	}
	return b.Bytes()
}

func unwrapBase64(text []byte) ([]byte, error) {
	joined := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, string(text))
	data, err := base64.StdEncoding.Strict().DecodeString(joined)
	if err != nil {
		return nil, fmt.Errorf("read base64: %w", err)
	}
	return data, nil
}
