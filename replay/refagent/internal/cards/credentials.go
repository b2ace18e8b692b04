package cards

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"a2atap/replay/refagent/internal/jsonvalue"
)

// An AuthScheme is a way to send credentials.
type AuthScheme string

// The schemes that agents can ask for (RFC 6750 §2.1, RFC 7617 §2, and a header or a query parameter of the agent's
// own).
const (
	BearerAuth AuthScheme = "bearer"
	BasicAuth  AuthScheme = "basic"
	APIKeyAuth AuthScheme = "apiKey"
	OAuth2Auth AuthScheme = "oauth2" // a bearer token that the agent's token endpoint gives (RFC 6749 §4.4)
)

// Credentials are the credentials that an agent requires of its clients.
type Credentials struct {
	Scheme AuthScheme
	Header string // the field of an API key; empty otherwise
	Query  string // the query parameter of an API key that is in no field; empty otherwise
	Secret string // the token, "USER:PASSWORD", the key, or "CLIENT:SECRET"
	// Verify, if not nil, replaces Secret: it returns the user of a bearer token, and whether the token is valid.
	Verify func(token string, now time.Time) (user string, err error)
	// Others are the credentials of other users, sent in the same form. Each user sees no tasks but their own.
	Others []Credentials
	// TokenURL is where OAuth 2.0 tokens are given; the agent sets it. Now tells the time to compare their ends with.
	TokenURL string
	Now      func() time.Time
}

// SeparatesUsers reports whether there may be several users.
func (c *Credentials) SeparatesUsers() bool { return c.Verify != nil || len(c.Others) > 0 }

// Users returns the users that are known in advance: the empty one if users are not separated.
func (c *Credentials) Users() (users []string) {
	if c == nil || !c.SeparatesUsers() {
		return []string{""}
	}
	for _, one := range c.all() {
		if one.Verify == nil {
			users = append(users, one.User())
		}
	}
	return users
}

// all returns the credentials of each user.
func (c *Credentials) all() []Credentials {
	list := append([]Credentials{*c}, c.Others...)
	for i := range list {
		list[i].Now = c.Now
	}
	return list
}

// User names the credentials' user, without the secret.
func (c *Credentials) User() string {
	if name, _, ok := strings.Cut(c.Secret, ":"); ok && (c.Scheme == BasicAuth || c.Scheme == OAuth2Auth) {
		return "user:" + name
	}
	sum := sha256.Sum256([]byte(c.Secret))
	return "key:" + hex.EncodeToString(sum[:8])
}

// location returns where an API key is, as cards say it, and under which name.
func (c *Credentials) location() (in, name string) {
	if c.Query != "" {
		return "query", c.Query
	}
	return "header", c.Header
}

// Brought returns the user whose credentials a request has; ok is false if it has none of the required ones. The user
// is empty unless users are separated.
func (c *Credentials) Brought(r *http.Request) (user string, ok bool) {
	for _, one := range c.all() {
		if user, ok = one.brought(r); ok {
			break
		}
	}
	if !c.SeparatesUsers() {
		user = ""
	}
	return user, ok
}

// brought compares in a time that does not depend on the secret.
func (c *Credentials) brought(r *http.Request) (user string, ok bool) {
	if c.Scheme == APIKeyAuth {
		in, name := c.location()
		given := r.Header.Get(name)
		if in == "query" {
			given = r.URL.Query().Get(name)
		}
		return c.User(), equal(given, c.Secret)
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	wanted := c.Scheme
	if wanted == OAuth2Auth {
		wanted = BearerAuth
	}
	if given = strings.TrimSpace(given); !strings.EqualFold(scheme, string(wanted)) {
		return "", false
	}
	switch {
	case c.Verify != nil:
		user, err := c.Verify(given, c.Now())
		return "token:" + user, err == nil
	case c.Scheme == OAuth2Auth:
		return c.User(), c.gave(given)
	case c.Scheme == BasicAuth:
		return c.User(), equal(given, base64.StdEncoding.EncodeToString([]byte(c.Secret)))
	}
	return c.User(), equal(given, c.Secret)
}

func equal(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// TokenLife is the lifetime of a token.
const TokenLife = time.Hour

// Give returns a new token if the client and its secret are valid.
func (c *Credentials) Give(client, secret string) (token string, ok bool) {
	for _, one := range c.all() {
		if equal(client+":"+secret, one.Secret) {
			text := strconv.FormatInt(c.Now().Add(TokenLife).Unix(), 10) + "." + rand.Text()
			return text + "." + one.sign(text), true
		}
	}
	return "", false
}

// gave reports whether Give issued a token, and the token is still valid.
func (c *Credentials) gave(token string) bool {
	at := strings.LastIndexByte(token, '.')
	if at < 0 || !equal(token[at+1:], c.sign(token[:at])) {
		return false
	}
	end, _, _ := strings.Cut(token, ".")
	until, err := strconv.ParseInt(end, 10, 64)
	return err == nil && c.Now().Unix() < until
}

func (c *Credentials) sign(text string) string {
	h := hmac.New(sha256.New, []byte(c.Secret))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// flows are the OAuth 2.0 flows that there are, as cards of 0.2 to 1.0 have them.
func (c *Credentials) flows() jsonvalue.Object {
	return jsonvalue.Object{{"clientCredentials", jsonvalue.Object{{"tokenUrl", c.TokenURL}, {"scopes", jsonvalue.Object{}}}}}
}

// http returns the scheme of HTTP, as cards of 0.2 to 1.0 have it.
func (c *Credentials) http() jsonvalue.Object {
	o := jsonvalue.Object{{"scheme", string(c.Scheme)}}
	if c.Verify != nil {
		o = o.With("bearerFormat", "JWT")
	}
	return o
}

// authName is the name of the scheme in cards.
const authName = "credentials"

// Declare10 declares credentials as A2A 1.0 does (§4.5).
func Declare10(card jsonvalue.Object, c *Credentials) jsonvalue.Object {
	scheme := jsonvalue.Object{{"httpAuthSecurityScheme", c.http()}}
	switch in, name := c.location(); c.Scheme {
	case APIKeyAuth:
		scheme = jsonvalue.Object{{"apiKeySecurityScheme", jsonvalue.Object{{"location", in}, {"name", name}}}}
	case OAuth2Auth:
		scheme = jsonvalue.Object{{"oauth2SecurityScheme", jsonvalue.Object{{"flows", c.flows()}}}}
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
	scheme := append(jsonvalue.Object{{"type", "http"}}, c.http()...)
	switch in, name := c.location(); c.Scheme {
	case APIKeyAuth:
		scheme = jsonvalue.Object{{"type", "apiKey"}, {"in", in}, {"name", name}}
	case OAuth2Auth:
		scheme = jsonvalue.Object{{"type", "oauth2"}, {"flows", c.flows()}}
	}
	return card.With("securitySchemes", jsonvalue.Object{{authName, scheme}}).
		With("security", []any{jsonvalue.Object{{authName, []any{}}}})
}

// Declare01 declares credentials as A2A 0.1 does (§5.5.3), where their description is a text.
func Declare01(card jsonvalue.Object, c *Credentials) jsonvalue.Object {
	o := jsonvalue.Object{{"schemes", jsonvalue.Texts(string(c.Scheme))}}
	if more := details(c); more != nil {
		o = o.With("credentials", string(jsonvalue.Append(nil, more)))
	}
	return card.With("authentication", o)
}

// DeclareLegacy declares credentials as before A2A 0.1.
func DeclareLegacy(card jsonvalue.Object, c *Credentials) jsonvalue.Object {
	o := jsonvalue.Object{{"schemes", jsonvalue.Texts(string(c.Scheme))}}
	if more := details(c); more != nil {
		o = o.With("credentials", more)
	}
	return card.With("authentication", o)
}

// details returns where an API key goes, or where tokens come from; it may be nil.
func details(c *Credentials) jsonvalue.Object {
	switch in, name := c.location(); c.Scheme {
	case APIKeyAuth:
		return jsonvalue.Object{{"apiKey", jsonvalue.Object{{in + "Name", name}}}}
	case OAuth2Auth:
		return jsonvalue.Object{{"oauth2", jsonvalue.Object{{"tokenUrl", c.TokenURL}}}}
	}
	return nil
}
