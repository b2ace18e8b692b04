package merge

import (
	"bytes"
	"hash/maphash"
	"iter"

	"a2atap/proxy/hostname"
)

// placeholder begins what stands for a secret: redacted.DIGEST.KEY, in hexadecimal digits.
const placeholder = "redacted."

// withoutNames returns a text with all placeholders of secrets made alike, and all strings of JSON that are URLs on
// HTTP: what recorders hide and replace. A text that has neither is returned as it is. Hidden is called with each
// placeholder that is not in a URL.
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

// A secret is what a placeholder says of one: a digest of it, and one of the key that was used.
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

// otherSecrets reports whether two lists of secrets, which stand at the same places, differ for certain: where both
// were hidden with one key, which they name.
func otherSecrets(a, b []secret) bool {
	for i := range min(len(a), len(b)) {
		if a[i].key != 0 && a[i].key == b[i].key && a[i].digest != b[i].digest {
			return true
		}
	}
	return false
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// longIDs yields the words of a text that are long enough, and have digits enough, to have been made by chance:
// nobody says them twice who does not mean the same.
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

// normal returns the form in which the values of Host are compared. The ports that need not be said are left out.
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
