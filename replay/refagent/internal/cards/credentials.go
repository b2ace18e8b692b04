package cards

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
)

// An AuthScheme is a way to bring credentials.
type AuthScheme string

// The schemes that agents can ask for (RFC 6750 §2.1, RFC 7617 §2, and a header or a query parameter of the agent's
// own).
const (
	BearerAuth AuthScheme = "bearer"
	BasicAuth  AuthScheme = "basic"
	APIKeyAuth AuthScheme = "apiKey"
)

// Credentials are what clients of an agent have to bring.
type Credentials struct {
	Scheme AuthScheme
	Header string // the field of an API key; empty otherwise
	Query  string // the query parameter of an API key that is in no field; empty otherwise
	Secret string // the token, "USER:PASSWORD", or the key
}

// location returns where an API key is, as cards say it, and under which name.
func (c *Credentials) location() (in, name string) {
	if c.Query != "" {
		return "query", c.Query
	}
	return "header", c.Header
}

// Brought compares in a time that does not depend on the secret.
func (c *Credentials) Brought(r *http.Request) bool {
	var given string
	want := c.Secret
	switch c.Scheme {
	case APIKeyAuth:
		in, name := c.location()
		if given = r.Header.Get(name); in == "query" {
			given = r.URL.Query().Get(name)
		}
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

// authName is the name of the scheme in cards.
const authName = "credentials"

// Declare10 declares credentials as A2A 1.0 does (§4.5).
func Declare10(card jsonvalue.Object, c *Credentials) jsonvalue.Object {
	scheme := jsonvalue.Object{{"httpAuthSecurityScheme", jsonvalue.Object{{"scheme", string(c.Scheme)}}}}
	if c.Scheme == APIKeyAuth {
		in, name := c.location()
		scheme = jsonvalue.Object{{"apiKeySecurityScheme", jsonvalue.Object{{"location", in}, {"name", name}}}}
	}
	schemes, _ := card.Get("securitySchemes")
	declared, _ := schemes.(jsonvalue.Object)
	return card.With("securitySchemes", declared.With(authName, scheme)).
		With("securityRequirements", []any{jsonvalue.Object{{"schemes", jsonvalue.Object{{
			authName,
			jsonvalue.Object{{"list", []any{}}},
		}}}}})
}

// Declare03 declares credentials as A2A 0.2 and 0.3 do (0.3 §5.5.3).
func Declare03(card jsonvalue.Object, c *Credentials) jsonvalue.Object {
	scheme := jsonvalue.Object{{"type", "http"}, {"scheme", string(c.Scheme)}}
	if c.Scheme == APIKeyAuth {
		in, name := c.location()
		scheme = jsonvalue.Object{{"type", "apiKey"}, {"in", in}, {"name", name}}
	}
	return card.With("securitySchemes", jsonvalue.Object{{authName, scheme}}).
		With("security", []any{jsonvalue.Object{{authName, []any{}}}})
}

// Declare01 declares credentials as A2A 0.1 does (§5.5.3), in which what there is to say of them is a text.
func Declare01(card jsonvalue.Object, c *Credentials) jsonvalue.Object {
	o := jsonvalue.Object{{"schemes", jsonvalue.Texts(string(c.Scheme))}}
	if c.Scheme == APIKeyAuth {
		o = o.With("credentials", string(jsonvalue.Append(nil, keyPlace(c))))
	}
	return card.With("authentication", o)
}

// DeclareLegacy declares credentials as before A2A 0.1.
func DeclareLegacy(card jsonvalue.Object, c *Credentials) jsonvalue.Object {
	o := jsonvalue.Object{{"schemes", jsonvalue.Texts(string(c.Scheme))}}
	if c.Scheme == APIKeyAuth {
		o = o.With("credentials", keyPlace(c))
	}
	return card.With("authentication", o)
}

// keyPlace says where an API key goes.
func keyPlace(c *Credentials) jsonvalue.Object {
	in, name := c.location()
	return jsonvalue.Object{{"apiKey", jsonvalue.Object{{in + "Name", name}}}}
}
