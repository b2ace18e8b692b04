package redact

import (
	"bytes"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/grpc"
)

// headKind says what the first line of a head is.
type headKind uint8

const (
	requestHead headKind = iota
	answerHead
	fieldsOnly // a trailer
)

// head returns a copy of a raw head without its secrets; every other byte stays. It is read by the line and generously:
// a bare CR ends a line too, and a field that is continued on the next line keeps its name. What a peer makes of a head
// that breaks the grammar we cannot know, so that all that could be a secret is hidden.
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

// plainHead is head for one that keeps to the grammar, given what it was parsed to, and much faster. It returns what the
// head without its secrets is parsed to, too. Where ok is false, the head has to be read line by line.
func (m *mask) plainHead(raw []byte, h *capture.Head, kind headKind) (now []byte, parsed *capture.Head, ok bool) {
	if !isPlainHead(raw, h) {
		return nil, nil, false
	}
	var edits []edit
	parsed = h
	seen, at := 0, bytes.IndexByte(raw, '\n')+1 // what stands before was searched; where the line at hand begins
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
		if !m.header(f.Name).Hidden() && !isEncoded(f.Name, f.Value) &&
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

// urlSigns are what a URL has one of where it may hold a secret.
const urlSigns = "?#@"

func hasURLSign(text []byte) bool {
	return bytes.IndexByte(text, '?') >= 0 || bytes.IndexByte(text, '#') >= 0 || bytes.IndexByte(text, '@') >= 0
}

// isPlainHead reports whether a head keeps to the grammar so that each of its lines is what it was parsed to, and can be
// searched by itself.
func isPlainHead(raw []byte, h *capture.Head) bool {
	if len(h.Bad) > 0 || bytes.Count(raw, lineFeed) != len(h.Fields)+2 || // something follows the blank line
		h.Status == 0 && !capture.IsToken(h.Method) || h.Method == "CONNECT" || h.Method == "PRI" {
		return false
	}
	return strings.IndexByte(h.Line, '\r') < 0 // behind which a field can stand
}

// isRequestLine reports whether a line begins with a method and something after it.
func isRequestLine(line string) bool {
	method, _, ok := strings.Cut(line, " ")
	return ok && capture.IsToken(method)
}

// requestLine hides the secrets of the target. A target with blanks in it is taken as one.
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

// field hides the secrets in the line of a field. It returns what the field carries too. A line without a colon is read
// as if its first blank were one.
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
	case isEncoded(name, value):
		inner := strings.Trim(value, " \t")
		return credential.Plain, line[:i+1] + strings.Replace(value, inner, grpc.EditMessage(inner, m.text), 1)
	case isAuthority(name) && strings.IndexByte(value, '@') >= 0:
		at := strings.LastIndexByte(value, '@')
		info := strings.TrimLeft(value[:at], " \t")
		return credential.Plain, line[:i+1] + value[:at-len(info)] + m.userPassword(info) + value[at:]
	}
	kind = m.header(name)
	if hidden = m.padded(kind, value); hidden == value {
		return kind, line
	}
	return kind, line[:i+1] + hidden
}

// isEncoded reports whether secrets in the value of a field may be hidden behind an encoding of gRPC: base64, or
// percent-encoding.
func isEncoded(name, value string) bool {
	return strings.EqualFold(name, grpc.DetailsField) ||
		strings.IndexByte(value, '%') >= 0 && strings.EqualFold(name, grpc.MessageField)
}

// isAuthority reports whether a field names the host that is asked, which some clients precede with user information.
//
// Source: RFC 9113 section 8.3.1, which forbids user information in :authority.
func isAuthority(name string) bool {
	return strings.EqualFold(name, "Host") || name == ":authority"
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

// challenge hides what a challenge may show of a secret, and leaves the rest of it: schemes, realms, scopes and errors
// say why a request was refused. That is a token in place of parameters (as of Negotiate), and parameters with the name
// of a secret.
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
