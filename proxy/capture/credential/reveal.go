package credential

import "strings"

// Secrets returns the secrets behind the placeholders of a hidden text, given the original. It returns false if the
// hidden text cannot come from the original.
func Secrets(hidden, text string) (secrets map[string]string, fits bool) {
	secrets = map[string]string{}
	start, end := nextPlaceholder(hidden)
	if start < 0 {
		return secrets, hidden == text
	}
	text, fits = strings.CutPrefix(text, hidden[:start])
	for fits {
		placeholder := hidden[start:end]
		hidden = hidden[end:]
		next, secret := len(hidden), text
		if start, end = nextPlaceholder(hidden); start >= 0 {
			next = start
		}
		between := hidden[:next]
		switch {
		case start < 0:
			secret, fits = strings.CutSuffix(text, between)
		case between == "": // the boundary between the two is unknown
			return secrets, false
		default:
			secret, text, fits = strings.Cut(text, between)
		}
		if was, known := secrets[placeholder]; !fits || secret == "" || known && was != secret {
			return secrets, false
		}
		if secrets[placeholder] = secret; start < 0 {
			return secrets, true
		}
	}
	return secrets, false
}

// Reveal returns a text in which placeholders are replaced with their secrets, if known.
func Reveal(text string, secrets map[string]string) string {
	var b strings.Builder
	for start, end := nextPlaceholder(text); start >= 0; start, end = nextPlaceholder(text) {
		b.WriteString(text[:start])
		secret, known := secrets[text[start:end]]
		if !known {
			secret = text[start:end]
		}
		b.WriteString(secret)
		text = text[end:]
	}
	return b.String() + text
}
