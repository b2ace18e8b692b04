package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// A mask knows what is a secret, in values and in heads, and puts placeholders in its place. It is for one goroutine.
type mask struct {
	key     []byte
	mac     hash.Hash         // with the key, to be used again; made when it is first needed
	keyName string            // the fingerprint of the key; made with mac
	lowered map[string]string // names of fields seen so far, to what they are in lower case; nil keeps none
	headers map[string]bool   // that the user named, in lower case
	places  []secretPlace     // that the user named
	agent   *learned          // what the agent's card named; may be nil
}

// placeholder returns the placeholder of a secret. It is a token, so it needs no escapes in URLs, headers, cookies and
// JSON.
func (m *mask) placeholder(secret string) string {
	if m.mac == nil {
		m.mac, m.keyName = hmac.New(sha256.New, m.key), Fingerprint(m.key)
	}
	m.mac.Reset()
	m.mac.Write([]byte(secret))
	var room [sha256.Size + credential.PlaceholderDigits]byte
	sum := m.mac.Sum(room[:0])
	digest := hex.AppendEncode(sum, sum[:credential.PlaceholderDigits/2])[len(sum):]
	return credential.Placeholder(digest, m.keyName)
}

// hide returns a value with a placeholder for the secret in it, so that "Bearer X" and "X" give the same. What is empty
// or hidden already stays.
func (m *mask) hide(value string) string {
	scheme, secret := cutScheme(value)
	if knownSchemes[strings.ToLower(strings.TrimRight(scheme, " \t"))] {
		return scheme + m.hideWhole(secret)
	}
	return m.hideWhole(value)
}

// hideCredentials is hide for the fields whose value begins with a scheme, known or not.
//
// Source: RFC 9110 section 11.6.2.
func (m *mask) hideCredentials(value string) string {
	scheme, secret := cutScheme(value)
	if scheme == "" && knownSchemes[strings.ToLower(value)] {
		return value // a scheme alone, which is worth seeing
	}
	return scheme + m.hideWhole(secret)
}

func (m *mask) hideWhole(secret string) string {
	if secret == "" || credential.IsPlaceholder(secret) {
		return secret
	}
	return m.placeholder(secret)
}

// cutScheme cuts a value after its first word, if that could be an authentication scheme and something follows.
func cutScheme(value string) (scheme, rest string) {
	i := strings.IndexAny(value, " \t")
	if i <= 0 || !capture.IsToken(value[:i]) {
		return "", value
	}
	rest = strings.TrimLeft(value[i:], " \t")
	return value[:len(value)-len(rest)], rest
}

// knownSchemes are authentication schemes that precede a secret where a scheme is not required, in lower case: the IANA
// registry's, and common schemes that are not registered.
var knownSchemes = setOf("basic bearer digest dpop gnap hoba mutual negotiate oauth privatetoken scram-sha-1 " +
	"scram-sha-256 vapid concealed ntlm kerberos apikey api-key token hmac sharedkey aws4-hmac-sha256 jwt")

// header returns the kind of that header field: by its name, by the agent's card, or by the user's choice.
func (m *mask) header(name string) credential.Kind {
	kind := credential.Header(name)
	byCard := m.agent != nil && len(m.agent.headers) > 0
	if len(m.headers) == 0 && !byCard {
		return kind
	}
	switch lower := m.lower(name); kind {
	case credential.Plain, credential.Identity:
		if m.headers[lower] || byCard && m.agent.headers[lower] {
			return credential.Secret
		}
	case credential.Challenge:
		if m.headers[lower] {
			return credential.Secret
		}
	}
	return kind
}

// secretParam reports whether a parameter of a query or a form carries a secret: by its name, or by the agent's card.
// Page tokens never do.
func (m *mask) secretParam(name string) bool {
	if credential.Param(name).Hidden() {
		return true
	}
	return m.agent != nil && len(m.agent.query) > 0 && !credential.PageToken(name) &&
		m.agent.query[credential.Normal(name)]
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// lower returns the name of a field in lower case. Peers send the same few names again and again.
func (m *mask) lower(name string) string {
	lower, known := m.lowered[name]
	if !known {
		lower = strings.ToLower(name)
		if m.lowered != nil && len(m.lowered) < maxLearnedNames {
			m.lowered[strings.Clone(name)] = lower
		}
	}
	return lower
}

// A secretPlace is a place in JSON texts whose strings are hidden.
type secretPlace struct {
	pointer capture.Pointer
	numbers bool // and numbers too
}
