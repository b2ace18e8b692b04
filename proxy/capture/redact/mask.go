package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strings"
	"unicode/utf8"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// A mask finds secrets and puts placeholders in their place. It is for one goroutine.
type mask struct {
	key     []byte
	mac     hash.Hash         // with the key, to be used again; made when it is first needed
	lowered map[string]string // names of fields seen so far, to what they are in lower case; nil keeps none
	headers map[string]bool   // that the user named, in lower case
	places  []secretPlace     // that the user named
	agent   *learned          // what the agent's card named; may be nil
}

// placeholder returns what stands for a secret. It is a token and may stand in URLs, headers, cookies and JSON as it is.
func (m *mask) placeholder(secret string) string {
	if m.mac == nil {
		m.mac = hmac.New(sha256.New, m.key)
	}
	m.mac.Reset()
	io.WriteString(m.mac, secret) //nolint:errcheck // a hash takes everything
	var sum [sha256.Size]byte
	return credential.PlaceholderPrefix + hex.EncodeToString(m.mac.Sum(sum[:0])[:credential.PlaceholderDigits/2])
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

// knownSchemes are authentication schemes that stand before a secret where a scheme is not required, in lower case: the
// IANA registry's, and those that are common without being registered.
var knownSchemes = setOf("basic bearer digest dpop gnap hoba mutual negotiate oauth privatetoken scram-sha-1 scram-sha-256 vapid " +
	"concealed ntlm kerberos apikey api-key token hmac sharedkey aws4-hmac-sha256 jwt")

// Parts of names that say that a secret follows.
var (
	headerWords = strings.Fields("key token secret auth cookie password passwd credential jwt")
	paramWords  = strings.Fields("key token secret auth cookie password passwd credential jwt signature")
)

// Names that contain such a word and carry no secret. A key that makes a request idempotent tells retries from repeats,
// and that of a WebSocket handshake is a nonce. The others contain none: most fields have one of these names, and need
// not be searched for the words.
var publicHeaders = setOf("idempotency-key x-idempotency-key sec-websocket-key authority :authority author " +
	"host user-agent accept accept-encoding accept-language connection cache-control content-type content-length " +
	"transfer-encoding date server a2a-version a2a-extensions")

// secretHeader reports whether a header, its name in lower case, carries credentials: by its name, by the agent's card,
// or because the user says so. Challenges (WWW-Authenticate) are not credentials; see mask.challenge.
func (m *mask) secretHeader(name string) bool {
	switch {
	case m.headers[name], m.agent != nil && m.agent.headers[name], name == "dpop":
		return true
	case publicHeaders[name], strings.HasPrefix(name, "access-control-"), strings.Contains(name, "ratelimit"):
		return false
	}
	return containsAny(name, headerWords)
}

// Names of parameters, normalised. The first would be taken for secrets by their parts, the second not.
var (
	publicParams = setOf("pagetoken nextpagetoken keyword keywords keyid author authority authorizationuri authuser maxtokens " +
		"tokentype tokentypehint subjecttokentype actortokentype requestedtokentype tokenendpointauthmethod")
	secretParams = setOf("code codeverifier devicecode assertion clientassertion samlresponse sig pwd pass")
)

// secretParam reports whether a parameter of a query or a form carries a secret. Page tokens never do.
func (m *mask) secretParam(name string) bool {
	name = normalName(name)
	switch {
	case publicParams[name]:
		return false
	case secretParams[name], m.agent != nil && m.agent.query[name]:
		return true
	}
	return containsAny(name, paramWords)
}

// secretMembers are the names, normalised, of JSON members that hold secrets wherever they stand.
//
// Source: RFC 6749 sections 4, 5 and 6 (OAuth), RFC 7591 section 3.2.1, RFC 7636, RFC 8628, RFC 8693, OpenID Connect Core
// section 3.1.3.3.
var secretMembers = setOf("accesstoken refreshtoken idtoken clientsecret clientassertion devicecode codeverifier " +
	"registrationaccesstoken subjecttoken actortoken")

// looseMembers are hidden besides in JSON that is broken, where nobody can tell any more where a member stands.
var looseMembers = setOf("token credentials secret password apikey authorization")

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

func containsAny(s string, words []string) bool {
	for _, word := range words {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
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

// isSecretMember reports whether the member of a JSON object with that name, as it stands between its quotes, holds a
// secret wherever it stands.
func isSecretMember(name []byte) bool {
	var short [64]byte
	normal := short[:0]
	for _, c := range name {
		switch {
		case c >= utf8.RuneSelf || len(normal) == len(short):
			return secretMembers[normalName(string(name))]
		case c == '_', c == '-', c == '.':
		case 'A' <= c && c <= 'Z':
			normal = append(normal, c+'a'-'A')
		default:
			normal = append(normal, c)
		}
	}
	return secretMembers[string(normal)]
}

// normalName returns a name in lower case without what separates its words: access_token and accessToken are the same.
func normalName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name))
}
