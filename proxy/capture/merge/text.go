package merge

import (
	"bytes"
	"hash/maphash"
	"iter"

	"a2atap/proxy/hostname"
)

// placeholder is the prefix of secrets' placeholders: redacted.DIGEST.KEY, in hexadecimal digits.
const placeholder = "redacted."

// withoutNames returns a text in which all placeholders of secrets are equal, and all JSON strings that are HTTP URLs:
// recorders hide and replace these. A text without either is returned unchanged. Hidden is called with each placeholder
// that is not in a URL.
func withoutNames(text []byte, hidden func(placeholder []byte)) []byte {
	if !bytes.Contains(text, []byte(placeholder)) && !bytes.Contains(text, []byte(`"http`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		switch {
		case bytes.HasPrefix(text, []byte(placeholder)):
			n := len(placeholder)
			for n < len(text) && (isHex(text[n]) || text[n] == '.') {
				n++
			}
			hidden(text[:n])
			out, text = append(out, placeholder...), text[n:]
		case bytes.HasPrefix(text, []byte(`"http://`)), bytes.HasPrefix(text, []byte(`"https://`)),
			bytes.HasPrefix(text, []byte(`"http:\/\/`)), bytes.HasPrefix(text, []byte(`"https:\/\/`)):
			end := bytes.IndexByte(text[1:], '"')
			if end < 0 {
				end = len(text) - 2
			}
			out, text = append(out, `"URL"`...), text[min(len(text), end+2):]
		default:
			out, text = append(out, text[0]), text[1:]
		}
	}
	return out
}

// A secret has a placeholder's digests: of the secret, and of the key.
type secret struct{ digest, key uint64 }

// maxSecrets bounds how many secrets of a body are compared.
const maxSecrets = 16

// hide notes a placeholder.
func (t *text) hide(found []byte) {
	if len(t.secrets) == maxSecrets {
		return
	}
	digest, key, _ := bytes.Cut(found[len(placeholder):], []byte("."))
	s := secret{digest: maphash.Bytes(t.exact.Seed(), digest)}
	if len(key) > 0 {
		s.key = maphash.Bytes(t.exact.Seed(), key)
	}
	t.secrets = append(t.secrets, s)
}

// otherSecrets reports whether two lists of secrets at the same places certainly differ: only digests with the same
// named key are comparable.
func otherSecrets(a, b []secret) bool {
	for i := range min(len(a), len(b)) {
		if a[i].key != 0 && a[i].key == b[i].key && a[i].digest != b[i].digest {
			return true
		}
	}
	return false
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// longIDs yields the words of a text that are long enough and have enough digits to be random ids, so that equal ones
// mean the same thing.
func longIDs(text []byte) iter.Seq[[]byte] {
	const letters, digits = 16, 3
	return func(yield func([]byte) bool) {
		begin, count := 0, 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && isWord(text[i]) {
				if '0' <= text[i] && text[i] <= '9' {
					count++
				}
				continue
			}
			hidden := bytes.HasSuffix(text[:begin], []byte(placeholder))
			if i-begin >= letters && count >= digits && !hidden && !yield(text[begin:i]) {
				return
			}
			begin, count = i+1, 0
		}
	}
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_'
}

// normal returns the form in which the values of Host are compared: without default ports.
func normal(authority string) string {
	host, port, ok := hostname.Split(authority)
	if !ok {
		return authority
	}
	if port == "80" || port == "443" {
		port = ""
	}
	return hostname.Join(hostname.Normal(host), port)
}
