package a2a

import (
	"slices"
	"strings"
)

// A SecurityScheme is a way to authenticate that a card declares, in the OpenAPI style of 0.2 and 0.3 or in a wrapper
// member as in 1.0 and the proto JSON of 0.x.
type SecurityScheme struct {
	Value          // the object that describes it, without its wrapper
	Name    string // that the card gives it
	Type    SchemeType
	Wrapped bool
}

// SchemeType is the kind of a security scheme.
type SchemeType uint8

// The kinds of security schemes.
const (
	UnknownScheme SchemeType = iota
	APIKeyScheme
	HTTPScheme
	OAuth2Scheme
	OpenIDConnectScheme
	MutualTLSScheme
	WordScheme // 0.1: a word, which shows only that credentials are required
)

// schemeNames holds how each kind is written: the value of "type" (0.2 and 0.3), and the wrapper member (1.0).
var schemeNames = [...]struct {
	kind          SchemeType
	open, wrapper string
}{
	{APIKeyScheme, "apiKey", "apiKeySecurityScheme"},
	{HTTPScheme, "http", "httpAuthSecurityScheme"},
	{OAuth2Scheme, "oauth2", "oauth2SecurityScheme"},
	{OpenIDConnectScheme, "openIdConnect", "openIdConnectSecurityScheme"},
	{MutualTLSScheme, "mutualTLS", "mtlsSecurityScheme"},
}

// SecuritySchemes returns the security schemes of a card, in its order.
func SecuritySchemes(card Value) []SecurityScheme {
	var schemes []SecurityScheme
	for name, v := range card.Get("securitySchemes").Members() {
		scheme := SecurityScheme{Value: v, Name: name}
		for _, n := range schemeNames {
			if inner := v.Get(n.wrapper); inner.Exists() {
				scheme = SecurityScheme{inner, name, n.kind, true}
			} else if v.Get("type").Is(n.open) {
				scheme.Type = n.kind
			}
		}
		schemes = append(schemes, scheme)
	}
	return schemes
}

// Credentials has the names under which requests carry credentials, as a card declares them. It omits cookies: any
// cookie may be a credential.
type Credentials struct {
	Headers []string // as written; Authorization is always one
	Query   []string // names of parameters
}

// Credentials returns where requests carry API keys according to the card's schemes. It reads schemes leniently: a
// client may send its key by a malformed one.
func (c Card) Credentials() Credentials {
	var found Credentials
	for _, v := range first(c.Value, "securitySchemes", "security_schemes").Members() {
		found.add(v)
		for _, wrapped := range v.Members() {
			found.add(wrapped)
		}
	}
	return found
}

// add adds the names in a scheme, if the scheme says where they are sent.
func (c *Credentials) add(scheme Value) {
	name := scheme.Get("name").Text()
	if name == "" {
		return
	}
	switch place := strings.ToLower(first(scheme, "location", "in").Text()); {
	case strings.HasSuffix(place, "header"):
		c.Headers = append(c.Headers, name)
	case strings.HasSuffix(place, "query"):
		c.Query = append(c.Query, name)
	}
}

// Security is a card's requirements for requests.
type Security struct {
	Schemes      []Want   // all that the card declares
	Alternatives [][]Want // one alternative is enough, and requires everything in it
}

// A Want is what a scheme requires a request to carry.
type Want struct {
	Name   string     // that the card gives the scheme
	Type   SchemeType // UnknownScheme if the card does not describe it
	In     string     // of an API key: "header", "query" or "cookie"
	Param  string     // of an API key: the name of the field, parameter or cookie
	Scheme string     // of HTTP authentication: "Bearer"; in 0.1 also the equivalent of another kind of scheme
}

// maxAlternatives bounds the stored alternatives of a card with more than anyone can read.
const maxAlternatives = 64

// Security returns the card's requirements for requests: the member "securityRequirements" of 1.0, "security" of 0.2
// and 0.3, which examples of 1.0 have too, or "authentication" of 0.1.
func (c Card) Security() Security {
	var s Security
	for _, scheme := range SecuritySchemes(c.Value) {
		if len(s.Schemes) < maxAlternatives {
			s.Schemes = append(s.Schemes, wantOf(scheme))
		}
	}
	for _, v := range c.Get("securityRequirements").Elems() {
		s.add(v.Get("schemes"))
	}
	for _, v := range c.Get("security").Elems() {
		s.add(v)
	}
	for _, v := range c.Get("authentication").Get("schemes").Elems() {
		s.addWord(v.Text())
	}
	return s
}

func wantOf(s SecurityScheme) Want {
	w := Want{Name: s.Name, Type: s.Type}
	switch s.Type {
	case APIKeyScheme:
		w.In, w.Param = first(s.Value, "location", "in").Text(), s.Get("name").Text()
	case HTTPScheme:
		w.Scheme = s.Get("scheme").Text()
	}
	return w
}

// add adds an alternative: an object whose members are the names of schemes.
func (s *Security) add(names Value) {
	if len(s.Alternatives) == maxAlternatives {
		return
	}
	all := []Want{}
	for name := range names.Members() {
		want := Want{Name: name}
		for _, declared := range s.Schemes {
			if declared.Name == name {
				want = declared
			}
		}
		all = append(all, want)
	}
	s.Alternatives = append(s.Alternatives, all)
}

// addWord adds an alternative of 0.1, which is a word.
func (s *Security) addWord(word string) {
	want := Want{Name: word, Type: HTTPScheme, Scheme: word}
	switch lower := strings.ToLower(word); {
	case len(s.Alternatives) == maxAlternatives:
		return
	case lower == "public", lower == "none", lower == "anonymous", lower == "":
		s.Alternatives = append(s.Alternatives, []Want{})
		return
	case strings.Contains(lower, "tls"), strings.Contains(lower, "cert"):
		want.Type = MutualTLSScheme
	case lower == "bearer", lower == "basic", lower == "digest":
	default:
		want.Type = WordScheme
	}
	s.Schemes = append(s.Schemes, want)
	s.Alternatives = append(s.Alternatives, []Want{want})
}

// Asks reports whether the card asks every request for something.
func (s *Security) Asks() bool {
	return len(s.Alternatives) > 0 && !slices.ContainsFunc(s.Alternatives, func(all []Want) bool { return len(all) == 0 })
}

// Hidden reports whether requests may carry the required credentials outside header fields: in a client certificate, or
// by a scheme that the card does not describe.
func (s *Security) Hidden() bool {
	for _, all := range s.Alternatives {
		for _, w := range all {
			if w.Type == MutualTLSScheme || w.Type == UnknownScheme {
				return true
			}
		}
	}
	return false
}
