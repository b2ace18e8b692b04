package redact

import (
	"bytes"
	"strconv"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// message returns a body without its secrets, as body does; one that belongs to no head also without what cannot be
// searched, and how many bytes that is.
func (s search) message(h *held, body *capture.Parsed) (now []byte, cut int, err error) {
	if h.kind != bodyHeadless {
		now, err = s.body(h.kind, body)
		return now, 0, err
	}
	if looksLikeJSON(body.Text) && jsondoc.Parse(body.Text).Err == nil {
		return splice(body.Text, s.json(nil, body.Text)), 0, nil
	}
	if now, cut = s.answers(body.Text); cut > 0 {
		err = errHeadless
	}
	return now, cut, err
}

// answers returns a text of whole answers, one after another, without their secrets, and how many bytes at its end are
// none or cannot be searched.
func (s search) answers(text []byte) (now []byte, rest int) {
	for {
		if blanks := len(text) - len(bytes.TrimLeft(text, "\r\n")); blanks > 0 {
			now, text = append(now, text[:blanks]...), text[blanks:]
		}
		if !bytes.HasPrefix(text, []byte("HTTP/")) {
			return now, len(text)
		}
		end := headEnd(text)
		if end < 0 {
			return append(now, s.head(text, answerHead)...), 0
		}
		h := capture.ParseResponseHead(text[:end])
		now, text = append(now, s.head(text[:end], answerHead)...), text[end:]
		size, ok := bodySize(&h, len(text))
		if !ok {
			return now, len(text)
		}
		body, err := s.body(mediaKind(h.Fields.MediaType()), &capture.Parsed{Text: text[:size]})
		if err != nil {
			return now, len(text)
		}
		now, text = append(now, body...), text[size:]
	}
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

// bodySize returns how much of the bytes behind the head of an answer is its body, as far as it can be searched: in
// plain, and in one piece.
//
// Source: RFC 9112 section 6.3.
func bodySize(h *capture.Head, there int) (size int, ok bool) {
	switch length := h.Fields.Get("Content-Length"); {
	case h.Status < 200, h.Status == 204, h.Status == 304:
		return 0, true
	case len(h.Fields.Codings()) > 0, h.Fields.Has("Transfer-Encoding"):
		return 0, false
	case length != "":
		n, err := strconv.ParseUint(length, 10, 63)
		return int(min(n, uint64(there))), err == nil
	}
	return there, true
}

// same reports whether a slice is another one, from its first byte to its last.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
