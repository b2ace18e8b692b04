package cards

import (
	"strconv"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// A given card must declare the credentials that the agent requires.

// String describes the required credentials, without the secret.
func (c *Credentials) String() string {
	switch in, name := c.location(); {
	case c.Verify != nil:
		return "a JSON Web Token as bearer token"
	case c.Scheme == BearerAuth:
		return "a bearer token"
	case c.Scheme == OAuth2Auth:
		return "a token of OAuth 2.0"
	case c.Scheme == BasicAuth:
		return "user and password (basic)"
	case in == "query":
		return "an API key in the query parameter " + name
	default:
		return "an API key in the header field " + name
	}
}

// asked describes the credentials that the agent requires.
func (c *cardCheck) asked() string {
	if c.Auth == nil {
		return "the agent asks for no credentials"
	}
	return "the agent asks for " + c.Auth.String()
}

// checkSecurity10 reads schemes and requirements of 1.0 (§4.4.1, §4.5).
func checkSecurity10(c *cardCheck) {
	c.checkSecurity("securityRequirements", func(f model.Fields, name string) []alternative {
		var all []alternative
		for r := range f.Each(name) {
			schemes, _ := r.Nested("schemes")
			all = append(all, alternative{r, schemes.Object})
		}
		return all
	}, func(scheme model.Fields) (*Credentials, bool) {
		if h, ok := scheme.Nested("httpAuthSecurityScheme"); ok {
			return &Credentials{Scheme: AuthScheme(strings.ToLower(h.Required("scheme")))}, true
		}
		if _, ok := scheme.Nested("oauth2SecurityScheme"); ok {
			return &Credentials{Scheme: OAuth2Auth}, true
		}
		k, ok := scheme.Nested("apiKeySecurityScheme")
		return apiKey(k, "location"), ok
	})
}

// checkSecurity03 reads schemes and requirements of 0.2 and 0.3 (A2A 0.3 §5.5.3).
func checkSecurity03(c *cardCheck) {
	c.checkSecurity("security", func(f model.Fields, name string) []alternative {
		var all []alternative
		for r := range f.Each(name) {
			all = append(all, alternative{r, r.Object})
		}
		return all
	}, func(scheme model.Fields) (*Credentials, bool) {
		switch scheme.Required("type") {
		case "http":
			return &Credentials{Scheme: AuthScheme(strings.ToLower(scheme.Required("scheme")))}, true
		case "apiKey":
			return apiKey(scheme, "in"), true
		case "oauth2":
			return &Credentials{Scheme: OAuth2Auth}, true
		}
		return nil, false
	})
}

func apiKey(f model.Fields, location string) *Credentials {
	c := &Credentials{Scheme: APIKeyAuth}
	switch f.Text(location) {
	case "header":
		c.Header = f.Required("name")
	case "query":
		c.Query = f.Required("name")
	}
	return c
}

// An alternative is one set of schemes that a requirement is content with.
type alternative struct {
	at      model.Fields
	schemes jsonvalue.Object
}

// checkSecurity compares the schemes of a card, and the requirements of the card and its skills, with the agent's
// requirements; read converts a scheme to credentials if the agent supports its kind.
func (c *cardCheck) checkSecurity(
	requirements string, alternatives func(f model.Fields, name string) []alternative,
	read func(model.Fields) (*Credentials, bool),
) {
	schemes, _ := c.Nested("securitySchemes")
	for _, m := range schemes.Object {
		scheme, ok := schemes.Nested(m.Name)
		if !ok {
			continue
		}
		if given, ok := read(scheme); !ok || c.Auth == nil || !given.SameKind(c.Auth) {
			schemes.Complain(m.Name, "is a scheme for other credentials: "+c.asked())
		}
	}
	required := alternatives(c.Fields, requirements)
	if len(required) == 0 && c.Auth != nil {
		c.Complain(requirements, "is missing: "+c.asked())
	}
	for s := range c.Each("skills") {
		required = append(required, alternatives(s, requirements)...)
	}
	for _, r := range required {
		c.checkAlternative(r, schemes.Object)
	}
}

// checkAlternative rejects credentials that the agent does not require, and credentials that would not be sufficient.
func (c *cardCheck) checkAlternative(r alternative, declared jsonvalue.Object) {
	note := r.at.Reject
	switch {
	case len(r.schemes) != 1 && (c.Auth != nil || len(r.schemes) > 0):
		note("does not name exactly one scheme: " + c.asked())
	case len(r.schemes) == 1 && !declared.Has(r.schemes[0].Name):
		note("names " + strconv.Quote(r.schemes[0].Name) + ", which securitySchemes does not have")
	}
}

// SameKind reports whether clients send the same kind of credentials in the same place.
func (c *Credentials) SameKind(other *Credentials) bool {
	return c.Scheme == other.Scheme && strings.EqualFold(c.Header, other.Header) && c.Query == other.Query
}

// checkSecurity01 reads the authentication of 0.1 (§5.5.2) and of before.
func checkSecurity01(c *cardCheck) {
	f, ok := c.Nested("authentication")
	named := f.Texts("schemes")
	auth := c.Auth
	if auth == nil {
		for _, s := range named {
			if !strings.EqualFold(s, "public") && !strings.EqualFold(s, "none") {
				f.Complain("schemes", "names "+strconv.Quote(s)+", and "+c.asked())
			}
		}
		return
	}
	if !ok || len(named) != 1 || !strings.EqualFold(named[0], string(auth.Scheme)) {
		c.Complain("authentication", "must name the scheme "+strconv.Quote(string(auth.Scheme))+" alone: "+c.asked())
		return
	}
	if _, free := f.Value("credentials").(string); free || auth.Scheme != APIKeyAuth {
		return // 0.1 does not define the text
	}
	in, name := auth.location()
	credentials, _ := f.Nested("credentials")
	key, _ := credentials.Nested("apiKey")
	if got := key.Text(in + "Name"); !strings.EqualFold(got, name) {
		f.Complain("credentials", "must name "+strconv.Quote(name)+" in apiKey."+in+"Name: "+c.asked())
	}
}
