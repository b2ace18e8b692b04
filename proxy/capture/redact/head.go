package redact

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/grpc"
)

// A headKind is the kind of a head's first line.
type headKind uint8

const (
	requestHead headKind = iota
	answerHead
	fieldsOnly // a trailer
)

// head returns a copy of a raw head without its secrets; every other byte stays. It reads the head line by line and
// generously: a bare CR ends a line too, and a field that is continued on the next line keeps its name. It cannot know
// how a peer reads a malformed head, so it hides everything that could be a secret.
func (m *mask) head(head []byte, kind headKind) []byte {
	out := make([]byte, 0, len(head))
	text := string(head)
	field := credential.Plain // that a continued line belongs to
	for first := true; len(head) > 0; first = false {
		end := len(head)
		if lf := bytes.IndexByte(head, '\n'); lf >= 0 {
			end = lf
		}
		if cr := bytes.IndexByte(head[:end], '\r'); cr >= 0 {
			end = cr
		}
		line := text[len(text)-len(head):][:end]
		switch {
		case first && kind == requestHead && isRequestLine(line):
			line = m.requestLine(line)
		case first && kind == answerHead && strings.HasPrefix(line, "HTTP/"):
		case line != "" && (line[0] == ' ' || line[0] == '\t') && !first:
			line = m.padded(field, line)
		default:
			field, line = m.field(line)
		}
		out = append(out, line...)
		next := end
		for next < len(head) && next < end+2 &&
			(head[next] == '\n' && (next == end || head[end] == '\r') || head[next] == '\r' && next == end) {
			next++
		}
		out = append(out, head[end:next]...)
		head = head[next:]
	}
	return out
}

var lineFeed = []byte{'\n'}

// plainHead is head for a well-formed head, given its parsed form, and much faster. It also returns the parsed form of
// the head without its secrets. If ok is false, the head has to be read line by line.
func (m *mask) plainHead(raw []byte, h *capture.Head, kind headKind) (now []byte, parsed *capture.Head, ok bool) {
	if !isPlainHead(raw, h) {
		return nil, nil, false
	}
	var edits []edit
	parsed = h
	seen, at := 0, bytes.IndexByte(raw, '\n')+1 // seen: raw is searched up to here; at: the start of the current line
	urls := hasURLSign(raw)
	newTarget := false
	if kind == requestHead && urls && strings.ContainsAny(h.Target, urlSigns) {
		hidden := m.requestLine(h.Line)
		if newTarget = hidden != h.Line; newTarget {
			edits = append(edits, edit{0, len(h.Line), hidden})
		}
		seen = at
	}
	for i := range h.Fields {
		f := &h.Fields[i]
		start := at
		at += bytes.IndexByte(raw[at:], '\n') + 1
		if !m.header(f.Name).Hidden() && !isEncoded(f.Name) && !namesUser(f.Name, f.Value) &&
			(!urls || !strings.ContainsAny(f.Value, urlSigns)) {
			continue
		}
		if marksOf(raw[seen:start])&^markURL != 0 {
			return nil, nil, false
		}
		seen = at
		line := string(bytes.TrimSuffix(raw[start:at-1], []byte{'\r'}))
		_, hidden := m.field(line)
		if hidden == line {
			continue
		}
		if parsed == h {
			parsed = new(*h)
			parsed.Fields = slices.Clone(h.Fields)
		}
		parsed.Fields[i].Value = strings.Trim(hidden[len(f.Name)+1:], " \t")
		edits = append(edits, edit{start, start + len(line), hidden})
	}
	if marksOf(raw[seen:])&^markURL != 0 {
		return nil, nil, false
	}
	now = splice(raw, edits)
	if newTarget {
		parsed = new(capture.ParseRequestHead(now))
	}
	return now, parsed, true
}

// urlSigns are the characters of which a URL has at least one if it may hold a secret.
const urlSigns = "?#@"

func hasURLSign(text []byte) bool {
	return bytes.IndexByte(text, '?') >= 0 || bytes.IndexByte(text, '#') >= 0 || bytes.IndexByte(text, '@') >= 0
}

// isPlainHead reports whether a head is well-formed, so that each of its lines equals its parsed form and can be
// searched separately.
func isPlainHead(raw []byte, h *capture.Head) bool {
	if len(h.Bad) > 0 || bytes.Count(raw, lineFeed) != len(h.Fields)+2 || // something follows the blank line
		h.Status == 0 && !capture.IsToken(h.Method) || h.Method == "CONNECT" || h.Method == "PRI" {
		return false
	}
	return strings.IndexByte(h.Line, '\r') < 0 // a field could follow a bare CR
}

// isRequestLine reports whether a line begins with a method and something after it.
func isRequestLine(line string) bool {
	method, _, ok := strings.Cut(line, " ")
	return ok && capture.IsToken(method)
}

// requestLine hides the secrets of the target. A target that contains blanks counts as one target.
func (m *mask) requestLine(line string) string {
	method, target, _ := strings.Cut(line, " ")
	version := ""
	if i := strings.LastIndexByte(target, ' '); i >= 0 && strings.HasPrefix(target[i+1:], "HTTP/") {
		target, version = target[:i], target[i:]
	}
	if at := strings.LastIndexByte(target, '@'); at >= 0 && method == "CONNECT" {
		return method + " " + m.userPassword(target[:at]) + target[at:] + version
	}
	return method + " " + m.text(m.url(target)) + version
}

// field hides the secrets in the line of a field. It also returns the kind of the field. In a line without a colon, the
// first blank counts as the colon.
func (m *mask) field(line string) (kind credential.Kind, hidden string) {
	i := strings.IndexByte(line, ':')
	if i == 0 { // ":authority: host", out of a capture of HTTP/2
		i = 1 + strings.IndexByte(line[1:], ':')
	}
	if i <= 0 {
		i = strings.IndexAny(line, " \t=")
	}
	if i <= 0 {
		return credential.Plain, line
	}
	name, value := strings.Trim(line[:i], " \t"), line[i+1:]
	switch {
	case strings.EqualFold(name, grpc.DetailsField):
		return credential.Plain, line[:i+1] + m.details(value)
	case isEncoded(name):
		inner := strings.Trim(value, " \t")
		return credential.Plain, line[:i+1] + strings.Replace(value, inner, grpc.EditMessage(inner, m.looseText), 1)
	case strings.EqualFold(name, "Forwarded"):
		return credential.Plain, line[:i+1] + m.forwarded(value)
	case namesUser(name, value):
		at := userEnd(value)
		info := strings.TrimLeft(value[:at], " \t")
		return credential.Plain, line[:i+1] + value[:at-len(info)] + m.userPassword(info) + value[at:]
	}
	kind = m.header(name)
	if hidden = m.padded(kind, value); hidden == value {
		return kind, line
	}
	return kind, line[:i+1] + hidden
}

// isEncoded reports whether a field carries details of a gRPC error, in base64 or percent-encoding.
func isEncoded(name string) bool {
	return strings.EqualFold(name, grpc.DetailsField) || strings.EqualFold(name, grpc.MessageField)
}

// looseText hides secrets in a text without structure, including values that follow the name of a secret. If the text
// is percent-encoded twice, looseText searches its decoded form.
func (m *mask) looseText(s string) string {
	text, edits := s, search{m, new(placeSet)}.loose([]byte(s))
	if len(edits) == 0 && strings.IndexByte(s, '%') >= 0 {
		text = unescapeParam(s, url.PathUnescape)
		edits = search{m, new(placeSet)}.loose([]byte(text))
	}
	if len(edits) == 0 {
		return s
	}
	return string(splice([]byte(text), edits))
}

// namesUser reports whether a field names the requested host with user information before it, as some clients do.
//
// Source: RFC 9113 section 8.3.1, which forbids user information in :authority.
func namesUser(name, value string) bool {
	return (strings.EqualFold(name, "Host") || name == ":authority" || strings.EqualFold(name, "X-Forwarded-Host")) &&
		userEnd(value) >= 0
}

// userEnd returns where the last user information in a value ends; -1 if it has none.
func userEnd(value string) int {
	return max(strings.LastIndexByte(value, '@'), strings.LastIndex(value, "%40"))
}

// forwarded hides the user information before the hosts that a Forwarded field names.
//
// Source: RFC 7239 section 5.3.
func (m *mask) forwarded(value string) string {
	rest := ""
	for at := userEnd(value); at >= 0; at = userEnd(value) {
		start := strings.LastIndexByte(value[:at], '"') + 1
		if start == 0 {
			start = strings.LastIndexAny(value[:at], "=,; \t") + 1
		}
		value, rest = value[:start], m.userPassword(value[start:at])+value[at:]+rest
	}
	return value + rest
}

// padded hides the secrets in a field's value, or in a line of it, that may have blanks around it.
func (m *mask) padded(kind credential.Kind, value string) string {
	inner := strings.Trim(value, " \t")
	if inner == "" {
		return value
	}
	hidden := m.value(kind, inner)
	if hidden == inner {
		return value
	}
	front := strings.Index(value, inner)
	return value[:front] + hidden + value[front+len(inner):]
}

// value hides the secrets in a field's value.
func (m *mask) value(kind credential.Kind, value string) string {
	switch kind {
	case credential.SetCookie:
		return m.setCookies(value)
	case credential.Cookie:
		return m.cookies(value)
	case credential.Challenge:
		return m.challenge(value)
	case credential.Authorization:
		return m.hideCredentials(value)
	case credential.Secret:
		return m.hide(value)
	}
	return m.text(value)
}

// cookies hides the values of all cookies of a request: any of them may be a session.
//
// Source: RFC 6265 section 4.2.1.
func (m *mask) cookies(value string) string {
	pairs := strings.Split(value, ";")
	for i, pair := range pairs {
		pairs[i] = m.cookie(pair)
	}
	return strings.Join(pairs, ";")
}

func (m *mask) cookie(pair string) string {
	name, value, ok := strings.Cut(pair, "=")
	if !ok {
		name, value = "", pair
	} else {
		name += "="
	}
	bare := strings.Trim(value, " \t")
	at := len(value) - len(strings.TrimLeft(value, " \t"))
	if n := len(bare); n >= 2 && bare[0] == '"' && bare[n-1] == '"' {
		bare, at = bare[1:n-1], at+1
	}
	if bare == "" {
		return pair
	}
	return name + value[:at] + m.hideWhole(bare) + value[at+len(bare):]
}

// setCookies hides the value of a cookie that an answer sets; its name and attributes stay. All that is not an
// attribute is hidden: an agent that joins several cookies with commas must not show the second.
func (m *mask) setCookies(value string) string {
	pairs := strings.Split(value, ";")
	pairs[0] = m.cookie(pairs[0])
	for i, pair := range pairs[1:] {
		name, rest, _ := strings.Cut(pair, "=")
		switch {
		case !credential.CookieAttribute(strings.Trim(name, " \t")):
			pairs[i+1] = m.cookie(pair)
		case strings.ContainsAny(rest, "="): // "Path=/, other=secret"
			head, last := pair[:strings.LastIndexByte(pair, '=')+1], pair[strings.LastIndexByte(pair, '=')+1:]
			pairs[i+1] = head + m.hideWhole(last)
		}
	}
	return strings.Join(pairs, ";")
}

// challenge hides what a challenge may show of a secret: a token instead of parameters (as in Negotiate), and
// parameters with the name of a secret. It leaves the rest, because schemes, realms, scopes and errors explain why a
// request was refused.
//
// Source: RFC 9110 section 11.6.1.
func (m *mask) challenge(value string) string {
	parts := strings.Split(value, ",")
	quotes := 0
	for i, part := range parts {
		quoted := quotes%2 == 1
		if quotes += strings.Count(part, `"`); quoted {
			continue
		}
		inner := strings.TrimLeft(part, " \t")
		front := part[:len(part)-len(inner)]
		scheme, rest := cutScheme(inner)
		name, secret, ok := strings.Cut(rest, "=")
		switch {
		case scheme != "" && isToken68(rest):
			parts[i] = front + scheme + m.hideWhole(rest)
		case ok && credential.ChallengeParam(strings.Trim(name, " \t")):
			parts[i] = front + scheme + m.cookie(name+"="+secret)
		}
	}
	return strings.Join(parts, ",")
}

// isToken68 reports whether s is a token68 and not a parameter: nothing follows its equals signs.
//
// Source: RFC 9110 section 11.2.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "= \t")
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("-._~+/", rune(c)) {
			return false
		}
	}
	return s != ""
}
