package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// preface begins a connection of HTTP/2: RFC 9113 section 3.4.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// foreignRequest returns the part to record of bytes that a client sent and that are not HTTP/1, and a note about the
// rest. The note is empty if the bytes are HTTP/1 or a beginning of it. HTTP/2 compresses header fields, so a search
// would miss their secrets. In other protocols, the places of secrets are unknown.
func foreignRequest(raw []byte, h *capture.Head) (kept []byte, note string) {
	switch {
	case h.Method == "PRI":
		kept = raw[:commonPrefix(raw, preface)]
		if frames := framesOf(raw[len(kept):]); len(kept) == len(preface) && frames != "" {
			return kept, "frames of HTTP/2: " + frames + "; their content is not recorded, since it cannot be searched for " +
				"secrets"
		}
		if len(kept) == len(raw) {
			return raw, ""
		}
	case len(h.Bad) == 0, isHTTPRequest(raw):
		return raw, ""
	}
	return kept, foreignNote(raw[len(kept):])
}

// foreignAnswer is foreignRequest for bytes that an agent sent instead of an answer.
func foreignAnswer(raw []byte, h *capture.Head) (kept []byte, note string) {
	if h.Status != 0 || bytes.HasPrefix(raw, []byte("HTTP/")) || bytes.HasPrefix([]byte("HTTP/"), raw) {
		return raw, ""
	}
	return nil, foreignNote(raw)
}

// isHTTPRequest reports whether bytes begin like a request, however malformed.
func isHTTPRequest(raw []byte) bool {
	line, _, whole := strings.Cut(string(bytes.TrimLeft(raw, "\r\n")), "\n")
	line = strings.TrimSuffix(line, "\r")
	method, rest, hasTarget := strings.Cut(line, " ")
	switch {
	case slices.Contains(methods, method):
		return true
	case hasTarget:
		return strings.HasPrefix(rest[strings.LastIndexByte(rest, ' ')+1:], "HTTP/")
	}
	return !whole && slices.ContainsFunc(methods, func(known string) bool { return strings.HasPrefix(known, method) })
}

var methods = strings.Fields("GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH")

func foreignNote(raw []byte) string {
	return fmt.Sprintf("%d bytes that are not HTTP/1.1%s are not recorded, since they cannot be searched for secrets",
		len(raw), beginsAs(raw))
}

// beginsAs names the protocol that bytes begin like; "" if it is unknown.
func beginsAs(raw []byte) string {
	for _, known := range [...]struct{ begins, what string }{
		{"\x16\x03", "TLS"},
		{"SSH-", "SSH"},
		{"\x05", "SOCKS 5"},
		{"\x04", "SOCKS 4"},
		{"HTTP/", "an answer"},
		{"{", "JSON"},
		{"[", "JSON"},
	} {
		if bytes.HasPrefix(raw, []byte(known.begins)) {
			return " and look like " + known.what
		}
	}
	return ""
}

// frameTypes are the names of the frames of HTTP/2 by their types: RFC 9113 section 6.
var frameTypes = strings.Fields("DATA HEADERS PRIORITY RST_STREAM SETTINGS PUSH_PROMISE PING GOAWAY WINDOW_UPDATE " +
	"CONTINUATION")

// framesOf names the frames that follow the preface, with their lengths.
//
// Source: RFC 9113 section 4.1.
func framesOf(raw []byte) string {
	const (
		head = 9
		most = 20
	)
	var frames []string
	for len(raw) >= head && len(frames) < most {
		size := int(raw[0])<<16 | int(raw[1])<<8 | int(raw[2])
		name := "of an unknown type"
		if kind := int(raw[3]); kind < len(frameTypes) {
			name = frameTypes[kind]
		}
		frames = append(frames, fmt.Sprintf("%s (%d bytes)", name, size))
		raw = raw[min(len(raw), head+size):]
	}
	if len(frames) == most && len(raw) > 0 {
		frames = append(frames, "and more")
	}
	return strings.Join(frames, ", ")
}

func commonPrefix(raw []byte, of string) int {
	n := 0
	for n < min(len(raw), len(of)) && raw[n] == of[n] {
		n++
	}
	return n
}
