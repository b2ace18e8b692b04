package card

import (
	"bytes"
	"iter"
	"regexp"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

var cardSecretLeak = &analysis.Rule{
	ID:     "card-secret-leak",
	Title:  "credentials in the agent card",
	Level:  analysis.Should,
	OfCard: true,
	Cites:  rule.Cite("5.4", rule.Before1...).And("14.3", a2a.V1_0),
	Stands: "0.1.0:151 0.2.6:154 0.3.0:301 1.0.1:3341",
	Doc: `A card says which credentials are needed, never what they are. Anyone can fetch it; it is cached and listed by
registries. Treat anything in it as public.`,
	Fix: `Remove the secret from the card and replace it wherever it is used, since it has been exposed. Hand out
credentials over another channel.`,
	Silent: `Anything that is not certainly a secret. The rule reports only private keys, tokens in a known issuer's
format, passwords in URLs, and secrets under the OAuth names in a security scheme, except for the names of scopes.
Signed tokens, which may be public attestations. Examples of skills, and signatures. The credentials of a 0.1 card may
explain how to get some: a token URL, scopes, a sentence. A word there that does not look like a token is a note, and
so is a value that the recording hides.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if what, worst := leakedBy(p.Card.Get("authentication").Get("credentials")); what != "" {
			p.Report(inCard(p, "/authentication/credentials"), "authentication.credentials "+what,
				"expected no secret in a card", analysis.AtMost(worst))
			return
		}
		if !mayLeak(p.Card.Raw()) {
			return
		}
		l := leak{}
		if l.find(p.Card.Value, false) {
			p.Report(p.Place.At(l.at.Pointer()), "the value is "+l.what, "expected no credentials in a card")
		}
	},
}

// leakedBy describes the secret in the credentials of a card, with its severity, or returns "" if they only explain how
// to get credentials.
func leakedBy(credentials a2a.Value) (what string, worst analysis.Severity) {
	text := strings.TrimSpace(credentials.Text())
	if doc := a2a.Parse([]byte(text)); doc.Err == nil && doc.Root.Kind() == a2a.Object {
		if l := (leak{}); l.find(doc.Root, true) {
			return "hold " + l.what, analysis.Warning
		}
		return "", 0
	}
	if form := formOf(text); form != "" {
		return "hold " + form, analysis.Warning
	}
	words := strings.Fields(text)
	if len(words) == 2 && (strings.EqualFold(words[0], "bearer") || strings.EqualFold(words[0], "basic")) &&
		!isSlot(words[1]) {
		return "hold a value for " + words[0], analysis.Warning
	}
	switch {
	case len(words) != 1 || isSlot(text):
		return "", 0
	case isToken(text):
		return "hold a token", analysis.Warning
	}
	return "have a value, which may be one", analysis.Note
}

// isToken reports whether a word looks like a token: long, of letters and digits, or signed. A value that the recording
// hides looks like one, and may have been anything.
func isToken(word string) bool {
	if credential.HasPlaceholder([]byte(word)) {
		return false
	}
	return signedToken.MatchString(word) ||
		plainToken.MatchString(word) && strings.ContainsAny(word, "0123456789") && strings.Trim(word, "0123456789") != ""
}

var (
	plainToken  = regexp.MustCompile(`^[A-Za-z0-9_+/=-]{16,}$`)
	signedToken = regexp.MustCompile(`^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$`)
)

// A form is how a kind of secret looks.
type form struct {
	what    string
	pattern *regexp.Regexp
}

var forms = [...]form{
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"a URL with a password", regexp.MustCompile(`://[^/?#@\s:]*:[^/?#@\s{}<>$*]+@`)},
	{"an access key of AWS", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)},
	{"a token of GitHub", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60})`)},
	{"an API key of Google", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}\b`)},
	{"a token of Slack", regexp.MustCompile(`\bxox[abpr]-[0-9]{8,}-[A-Za-z0-9-]{10}`)},
	{"an API key", regexp.MustCompile(`\bsk-(?:[a-z0-9]+-)*[A-Za-z0-9_]{32}`)},
}

// mayLeak reports whether a card needs a closer look: whether a word in it begins like a secret, a member is named like
// a secret, or a URL has user information. A single regular expression for all of that took longer than all other
// checks of a card.
func mayLeak(raw []byte) bool {
	for _, beginning := range [...]string{
		"AKIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AIza", "xoxa-", "xoxb-", "xoxp-", "xoxr-", "sk-",
	} {
		for at := range indexes(raw, beginning) {
			if at == 0 || !isWordByte(raw[at-1]) {
				return true
			}
		}
	}
	for at := range indexes(raw, "://") {
		if end := bytes.IndexAny(raw[at+3:], "@/?#\" \t\n\f\r"); end >= 0 && raw[at+3+end] == '@' {
			return true
		}
	}
	for _, name := range [...][2]string{
		{"client", "secret"}, {"access", "token"}, {"refresh", "token"}, {"private", "key"},
	} {
		for at := range indexes(raw, name[0][1:]) { // in either case, with or without a line between
			second := bytes.TrimPrefix(raw[at+len(name[0])-1:], []byte("_"))
			if at > 0 && raw[at-1]|0x20 == name[0][0] && len(second) > 0 && second[0]|0x20 == name[1][0] &&
				bytes.HasPrefix(second[1:], []byte(name[1][1:])) {
				return true
			}
		}
	}
	return bytes.Contains(raw, []byte("PRIVATE KEY-----")) || bytes.Contains(raw, []byte(`assword"`))
}

// indexes yields where a text has another one in it.
func indexes(text []byte, of string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; at++ {
			next := bytes.Index(text[at:], []byte(of))
			if next < 0 || !yield(at+next) {
				return
			}
			at += next
		}
	}
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// A leak is the first secret that was found in a card.
type leak struct {
	at   a2a.Value
	what string
}

// find looks for a secret in a value and all beneath. In security schemes the names of members count too.
func (l *leak) find(v a2a.Value, scheme bool) bool {
	switch v.Kind() {
	case a2a.String:
		if l.what = formOf(v.Text()); l.what != "" {
			l.at = v
			return true
		}
	case a2a.Array:
		for _, e := range v.Elems() {
			if l.find(e, scheme) {
				return true
			}
		}
	case a2a.Object:
		for name, m := range v.Members() {
			switch {
			case name == "examples" || name == "signatures":
			case scheme && m.Kind() == a2a.String && isSecretName(name) && !isSlot(m.Text()):
				l.at, l.what = m, "a secret by its name"
				return true
			case l.find(m, (scheme || name == "securitySchemes") && name != "scopes"): // which names permissions
				return true
			}
		}
	}
	return false
}

// formOf returns the kind of secret in a text, or "". Placeholders that show how to write a URL with a password are not
// secrets.
func formOf(text string) string {
	for _, f := range forms {
		if found := f.pattern.FindString(text); found != "" && !strings.Contains(text, "EXAMPLE") &&
			!(strings.Contains(text, " ") && sampleEnd.MatchString(found)) {
			return f.what
		}
	}
	return ""
}

var sampleEnd = regexp.MustCompile(`(?i):(?:pass|passwd|password|pwd|secret|token|x+)@$`)

// isSecretName reports whether OAuth, or everybody, has that name for a secret.
func isSecretName(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "clientsecret", "accesstoken", "refreshtoken", "privatekey", "password":
		return true
	}
	return false
}

// isSlot reports whether a text is a placeholder for a secret.
func isSlot(text string) bool {
	return text == "" || strings.ContainsAny(text[:1], "<{$%[*") || strings.Contains(text, "://")
}
