package webhook

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/relay"
)

// maxAddress is the maximum length of a tap's address in a text, in bytes.
const maxAddress = 2 * maxHookURL

// A restorer restores the URLs of webhooks in a text that arrives in pieces. It holds back only what may be the
// beginning of an address. It works on any JSON, with an address as a string or within one, and on event streams of
// JSON.
type restorer struct {
	seals *sealer
	found func(ours string, h hook) // called for each address; may be nil
	kept  []byte                    // the end of the received data, which may belong to an address
	out   []byte
}

var _ relay.Change = (*restorer)(nil)

// Next implements relay.Change.
func (r *restorer) Next(p []byte, last bool) []byte {
	if len(r.kept) == 0 && bytes.IndexByte(p, 'h') < 0 {
		return p
	}
	text := p
	if len(r.kept) > 0 {
		text = append(r.kept, p...)
	}
	r.out = r.out[:0]
	for {
		at, more := nextURL(text)
		if at < 0 {
			r.out = append(r.out, text...)
			r.kept = nil
			return r.out
		}
		r.out = append(r.out, text[:at]...)
		text = text[at:]
		if more && !last { // it does not end here
			r.kept = bytes.Clone(text)
			return r.out
		}
		n, text2 := r.address(text)
		r.out = append(r.out, text2...)
		text = text[n:]
	}
}

var urlScheme = []byte("http")

// nextURL returns the position of the next possible address in a text, -1 without one, and whether more text is needed
// to decide.
func nextURL(text []byte) (at int, more bool) {
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], 'h')
		if i < 0 {
			return -1, false
		}
		at = from + i
		rest := text[at:]
		if len(rest) < len(urlScheme) {
			if bytes.HasPrefix(urlScheme, rest) {
				return at, true
			}
		} else if bytes.HasPrefix(rest, urlScheme) {
			end := urlEnd(rest)
			if end < len(rest) && end <= maxAddress && isAddress(rest[:end]) && mayBeAddress(rest[:end]) {
				return at, false
			}
			if end == len(rest) && end <= maxAddress && mayBeAddress(rest) {
				return at, true
			}
		}
		from = at + 1
	}
}

// urlEnd returns how long the stretch of characters is that a URL in a JSON string can have, with escaped slashes.
func urlEnd(text []byte) int {
	for i, c := range text {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			return i
		}
		if i > maxAddress {
			return i
		}
	}
	return len(text)
}

// unescapeSlashes returns a text with its slashes unescaped.
func unescapeSlashes(text []byte) string { return strings.ReplaceAll(string(text), `\/`, "/") }

func isAddress(text []byte) bool { return bytes.Contains(text, hookMark) }

// hookMark occurs in no other URL, and JSON never escapes it.
var hookMark = []byte(".a2atap")

// mayBeAddress reports whether a text may be the beginning of an address.
func mayBeAddress(text []byte) bool {
	plain := strings.TrimPrefix(strings.TrimPrefix(unescapeSlashes(text), "http"), "s")
	const begin = "://"
	return strings.HasPrefix(plain, begin) || strings.HasPrefix(begin, strings.TrimSuffix(plain, `\`))
}

// address returns the length of the address at the beginning of a text, and its replacement.
func (r *restorer) address(text []byte) (n int, instead []byte) {
	end := urlEnd(text)
	plain := unescapeSlashes(text[:end])
	before, rest, found := strings.Cut(plain, hookPrefix)
	if !found {
		return 1, text[:1]
	}
	if i := strings.LastIndex(before, "http"); i > 0 { // another URL directly precedes it
		return i, text[:i]
	}
	token := rest
	if i := strings.IndexFunc(rest, func(c rune) bool { return !isBase64URL(c) }); i >= 0 {
		token = rest[:i]
	}
	h, ok := r.seals.open(token)
	if !ok {
		return 1, text[:1]
	}
	n = bytes.LastIndex(text[:end], []byte(token)) + len(token)
	if r.found != nil {
		r.found(before+hookPrefix+token, h)
	}
	quoted, err := jsontext.AppendQuote(nil, h.url)
	if err != nil { // no UTF-8, which is never sealed
		return n, []byte(h.url)
	}
	instead = quoted[1 : len(quoted)-1]
	if bytes.Contains(text[:n], []byte(`\/`)) {
		instead = bytes.ReplaceAll(instead, []byte("/"), []byte(`\/`))
	}
	return n, instead
}

func isBase64URL(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// restored returns a text with all URLs put back, and whether there were any.
func (s *sealer) restored(text []byte) ([]byte, bool) {
	if !isAddress(text) {
		return text, false
	}
	changed := false
	r := &restorer{seals: s, found: func(string, hook) { changed = true }}
	out := slices.Clone(r.Next(text, true))
	return out, changed
}
