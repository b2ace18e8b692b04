package card

import (
	"regexp"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/rules/rule"
	"a2atap/proxy/a2a"
)

// CardSecretLeak reports credentials that everybody can read in a card.
var CardSecretLeak = &analyzer.Rule{
	ID:       "card-secret-leak",
	Title:    "credentials in the agent card",
	Level:    analyzer.Should,
	On:       analyzer.CardSeen,
	Bindings: rule.OnAll,
	Cites:    append(rule.Cite("5.4", rule.Before1...), rule.Cite("14.3", a2a.V1_0)...),
	Doc: `A card says which credentials are needed, never what they are: it is handed to everybody who asks, kept in caches and listed by
registries. What stands in it has to be taken for known.`,
	Fix: `Take the secret out of the card and replace it where it is used, since it has been read. Hand credentials out over another channel.`,
	Silent: `Everything that does not surely look like a secret: only private keys, tokens in a form that their issuer is known for, passwords in URLs, secrets under the names
that OAuth has for them in a security scheme, and the credentials of a 0.1 card. Signed tokens, which may be public attestations. Examples of skills, and signatures.`,
	Check: func(p *analyzer.Pass) {
		p.Applied()
		if credentials := p.Card.Get("authentication").Get("credentials"); credentials.Kind() == a2a.String && !credentials.Is("") {
			p.Report(inCard(p, "/authentication/credentials"), "authentication.credentials has a value", "expected no credentials in a card")
			return
		}
		if !mayLeak.Match(p.Card.Raw()) {
			return
		}
		l := leak{}
		if l.find(p.Card.Value, false) {
			p.Report(p.Place.At(l.at.Pointer()), "the value is "+l.what, "expected no credentials in a card")
		}
	},
}

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

// mayLeak finds cards that are worth a closer look.
var mayLeak = regexp.MustCompile(`PRIVATE KEY-----|://[^/?#"\s]*@|\bAKIA|\bgh[pousr]_|\bgithub_pat_|\bAIza|\bxox[abpr]-|\bsk-|[cC]lient_?[sS]ecret|[aA]ccess_?[tT]oken|[rR]efresh_?[tT]oken|[pP]rivate_?[kK]ey|assword"`)

// A leak is the first secret that was found in a card.
type leak struct {
	at   a2a.Value
	what string
}

// find looks for a secret in a value and all beneath. In security schemes the names of members count too.
func (l *leak) find(v a2a.Value, scheme bool) bool {
	switch v.Kind() {
	case a2a.String:
		text := v.Text()
		for _, f := range forms {
			if f.pattern.MatchString(text) && !strings.Contains(text, "EXAMPLE") {
				l.at, l.what = v, f.what
				return true
			}
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
			case l.find(m, scheme || name == "securitySchemes"):
				return true
			}
		}
	}
	return false
}

// isSecretName reports whether OAuth, or everybody, has that name for a secret.
func isSecretName(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "clientsecret", "accesstoken", "refreshtoken", "privatekey", "password":
		return true
	}
	return false
}

// isSlot reports whether a text only stands where a secret is to be put.
func isSlot(text string) bool {
	return text == "" || strings.ContainsAny(text[:1], "<{$%[*") || strings.Contains(text, "://")
}
