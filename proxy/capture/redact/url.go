package redact

import (
	"net/url"
	"strings"
)

// url returns a URL, or a reference to one, without the secrets in its user information, its query and its fragment.
//
// Source: RFC 3986 section 3; RFC 6749 section 4.2.2 for what a fragment may carry.
func (m *mask) url(s string) string { return m.urlWithin(s, 0) }

// maxNested is how deep a URL is searched that is a parameter of another.
const maxNested = 3

// urlWithin is url for a URL nested in depth others.
func (m *mask) urlWithin(s string, depth int) string {
	if !strings.ContainsAny(s, "?#@") {
		return s
	}
	rest, fragment, hasFragment := strings.Cut(s, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	var b strings.Builder
	b.WriteString(m.userinfo(rest))
	if hasQuery {
		b.WriteByte('?')
		b.WriteString(m.params(query, depth))
	}
	if hasFragment {
		b.WriteByte('#')
		b.WriteString(m.params(fragment, depth))
	}
	return b.String()
}

// userinfo hides name and password before the host. Either may be the secret: tokens are put in both places.
func (m *mask) userinfo(s string) string {
	begin := strings.Index(s, "//")
	if begin < 0 || begin > 0 && s[begin-1] != ':' {
		return s
	}
	begin += len("//")
	end := len(s)
	if i := strings.IndexByte(s[begin:], '/'); i >= 0 {
		end = begin + i
	}
	at := strings.LastIndexByte(s[begin:end], '@')
	if at < 0 {
		return s
	}
	return s[:begin] + m.userPassword(s[begin:begin+at]) + s[begin+at:]
}

func (m *mask) userPassword(info string) string {
	user, password, ok := strings.Cut(info, ":")
	user = m.hideWhole(unescapeParam(user, url.PathUnescape))
	if !ok {
		return user
	}
	return user + ":" + m.hideWhole(unescapeParam(password, url.PathUnescape))
}

// params hides the values of secret parameters in a query or a form: name=value, separated by "&". Some separate by
// ";", but values may hold that too, so that what follows a secret parameter is hidden up to the next "&".
func (m *mask) params(query string, depth int) string {
	var b strings.Builder
	for rest, more := query, true; more; {
		var param string
		param, rest, more = strings.Cut(rest, "&")
		m.param(&b, param, depth)
		if more {
			b.WriteByte('&')
		}
	}
	return b.String()
}

// param writes one parameter, or several with ";" between them.
func (m *mask) param(b *strings.Builder, param string, depth int) {
	for param != "" {
		end := strings.IndexByte(param, ';') + 1
		if end == 0 {
			end = len(param)
		}
		name, value, ok := strings.Cut(param[:end], "=")
		plain := unescapeParam(name, url.QueryUnescape)
		if ok && (m.secretParam(plain) || plain != name && m.secretParam(unescapeParam(plain, url.QueryUnescape))) {
			b.WriteString(name + "=" + m.paramValue(param[len(name)+1:]))
			return
		}
		b.WriteString(param[:end-len(value)])
		b.WriteString(m.nested(value, depth))
		param = param[end:]
	}
}

// nested hides the secrets in the value of a parameter that is a URL, percent-encoded.
func (m *mask) nested(value string, depth int) string {
	if depth == maxNested || strings.IndexByte(value, '%') < 0 {
		return value
	}
	value, last := strings.CutSuffix(value, ";")
	text := unescapeParam(value, url.QueryUnescape)
	hidden := m.nested(text, depth+1) // encoded twice
	if hidden == text {
		hidden = m.urlWithin(text, depth+1)
	}
	if hidden != text {
		value = url.QueryEscape(hidden)
	}
	if last {
		value += ";"
	}
	return value
}

// paramValue hides a value. The placeholder is computed from the unescaped value, so that it equals the one in a
// header. Blanks that belong to a scheme are written "+".
func (m *mask) paramValue(value string) string {
	text := unescapeParam(value, url.QueryUnescape)
	hidden := m.hide(text)
	if hidden == text {
		return value
	}
	return url.QueryEscape(hidden)
}

// unescapeParam takes off percent encoding, if it is right.
func unescapeParam(s string, unescape func(string) (string, error)) string {
	if text, err := unescape(s); err == nil {
		return text
	}
	return s
}

// urls hides the secrets of all URLs in a text, be it only one.
func (m *mask) urls(text string) string {
	if !strings.ContainsAny(text, "?#@") {
		return text
	}
	var b strings.Builder
	for text != "" {
		end := strings.IndexAny(text, urlEnds)
		if end < 0 {
			end = len(text)
		}
		b.WriteString(m.url(text[:end]))
		text = text[end:]
		if text != "" {
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}

// urlEnds are bytes that no URL contains, so a URL ends before them.
const urlEnds = " \t\r\n<>\""

// form returns the edit that hides the secrets of a body that is a form.
func (s search) form(text []byte) []edit {
	was := string(text)
	if now := s.params(was, 0); now != was {
		return []edit{{0, len(text), now}}
	}
	return nil
}
