package redact

import (
	"bytes"
	"mime"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// multipart returns the edits that hide the secrets of a multipart body: in the heads of its parts, the whole of parts
// that have the name of a secret, and in the others what their media type lets find. Without a boundary that is found
// in it, the text is searched loosely.
//
// Source: RFC 2046 section 5.1, RFC 7578.
func (s search) multipart(contentType string, text []byte) []edit {
	_, params, err := mime.ParseMediaType(contentType)
	delimiter := []byte("--" + params["boundary"])
	at := bytes.Index(text, delimiter)
	if err != nil || len(delimiter) == len("--") || at < 0 {
		return s.loose(text)
	}
	edits := s.loose(text[:at])
	for at < len(text) {
		at += len(delimiter)
		end := len(text)
		if n := bytes.Index(text[at:], delimiter); n >= 0 {
			end = at + n
		}
		edits = append(edits, shifted(s.part(text[at:end]), at)...)
		at = end
	}
	return edits
}

// part returns the edits of one part, which begins behind its delimiter.
func (s search) part(text []byte) []edit {
	line := bytes.IndexByte(text, '\n') + 1
	rest := text[line:]
	end := headEnd(rest)
	if end < 0 {
		return s.loose(text)
	}
	var edits []edit
	if masked := s.head(rest[:end], fieldsOnly); !bytes.Equal(masked, rest[:end]) {
		edits = append(edits, edit{line, line + end, string(masked)})
	}
	fields, _ := capture.ParseFields(rest[:end])
	body := bytes.TrimRight(rest[end:], "\r\n")
	start := line + end
	_, disposition, _ := mime.ParseMediaType(fields.Get("Content-Disposition"))
	name := disposition["name"]
	if _, isFile := disposition["filename"]; !isFile && (credential.Member(name) || s.secretParam(name)) {
		was := string(body)
		if now := s.hide(was); now != was {
			edits = append(edits, edit{start, start + len(body), now})
		}
		return edits
	}
	kind := mediaKind(fields.MediaType())
	if fields.MediaType() == "" || kind == bodyUnknown {
		kind = sniff(body, true)
	}
	return append(edits, shifted(s.once(kind, fields.Get("Content-Type"), body), start)...)
}

// headEnd returns where the fields end that a text begins with, their blank line included; -1 if nothing ends them.
func headEnd(text []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return -1
		}
		if line := text[at : at+n]; len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			return at + n + 1
		}
		at += n + 1
	}
}
