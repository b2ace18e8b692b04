package refagent

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

// An AuthScheme is a way to bring credentials.
type AuthScheme string

// The schemes that agents can ask for (RFC 6750 §2.1, RFC 7617 §2, and a header of the agent's own).
const (
	BearerAuth AuthScheme = "bearer"
	BasicAuth  AuthScheme = "basic"
	APIKeyAuth AuthScheme = "apiKey"
)

// Credentials are what clients of an agent have to bring.
type Credentials struct {
	Scheme AuthScheme
	Header string // the field of an API key; empty otherwise
	Secret string // the token, "USER:PASSWORD", or the key
}

// authenticate refuses a request without the credentials that the agent asks for. The public card needs none
// (A2A 1.0 §8.2), nor does OPTIONS.
func (a *Agent) authenticate(r *http.Request) *failure {
	c := a.opts.Auth
	if c == nil || c.brought(r) {
		return nil
	}
	challenge := "Bearer"
	switch c.Scheme {
	case BasicAuth:
		challenge = "Basic"
	case APIKeyAuth:
		challenge = "ApiKey"
	}
	return &failure{
		code: codeUnauthenticated, message: "Unauthorized", http: http.StatusUnauthorized,
		challenge: challenge + ` realm="` + a.profile.name + `"`,
	}
}

// brought compares in a time that does not depend on the secret.
func (c *Credentials) brought(r *http.Request) bool {
	var given string
	want := c.Secret
	switch c.Scheme {
	case APIKeyAuth:
		given = r.Header.Get(c.Header)
	default:
		scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, string(c.Scheme)) {
			return false
		}
		given = strings.TrimSpace(rest)
		if c.Scheme == BasicAuth {
			want = base64.StdEncoding.EncodeToString([]byte(want))
		}
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// declareAuth returns a card that says which credentials the agent asks for.
func (a *Agent) declareAuth(card object) object {
	if a.opts.Auth == nil {
		return card
	}
	return a.profile.declare(card, a.opts.Auth)
}

// authName is the name of the scheme in cards.
const authName = "credentials"

// declare10 declares credentials as A2A 1.0 does (§4.5).
func declare10(card object, c *Credentials) object {
	scheme := object{{"httpAuthSecurityScheme", object{{"scheme", string(c.Scheme)}}}}
	if c.Scheme == APIKeyAuth {
		scheme = object{{"apiKeySecurityScheme", object{{"location", "header"}, {"name", c.Header}}}}
	}
	schemes, _ := card.get("securitySchemes")
	declared, _ := schemes.(object)
	return card.with("securitySchemes", declared.with(authName, scheme)).
		with("securityRequirements", []any{object{{"schemes", object{{authName, object{{"list", []any{}}}}}}}})
}

// declare03 declares credentials as A2A 0.2 and 0.3 do (0.3 §5.5.3).
func declare03(card object, c *Credentials) object {
	scheme := object{{"type", "http"}, {"scheme", string(c.Scheme)}}
	if c.Scheme == APIKeyAuth {
		scheme = object{{"type", "apiKey"}, {"in", "header"}, {"name", c.Header}}
	}
	return card.with("securitySchemes", object{{authName, scheme}}).
		with("security", []any{object{{authName, []any{}}}})
}

// declare01 declares credentials as A2A 0.1 (§5.5.3) and the dialect before it do.
func declare01(card object, c *Credentials) object {
	o := object{{"schemes", texts(string(c.Scheme))}}
	if c.Scheme == APIKeyAuth {
		o = o.with("credentials", object{{"apiKey", object{{"headerName", c.Header}}}})
	}
	return card.with("authentication", o)
}
