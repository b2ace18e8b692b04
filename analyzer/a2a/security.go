package a2a

// A SecurityScheme is a way to authenticate that a card declares, in the OpenAPI style of 0.2 and 0.3 or in a wrapper
// member as in 1.0 and the proto JSON of 0.x.
type SecurityScheme struct {
	Value          // the object that describes it, out of its wrapper
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

// Credentials says by which names requests carry credentials, as a card declares them.
type Credentials struct {
	Headers []string // as written; Authorization is always one
	Query   []string // names of parameters
	Cookies []string
}

// Credentials returns where requests carry API keys by the card's schemes.
func (c Card) Credentials() Credentials {
	var found Credentials
	for _, s := range SecuritySchemes(c.Value) {
		name := s.Get("name").Text()
		if s.Type != APIKeyScheme || name == "" {
			continue
		}
		switch place := first(s.Value, "location", "in"); {
		case place.Is("header"):
			found.Headers = append(found.Headers, name)
		case place.Is("query"):
			found.Query = append(found.Query, name)
		case place.Is("cookie"):
			found.Cookies = append(found.Cookies, name)
		}
	}
	return found
}
