package refagent

import (
	"strconv"
	"strings"
)

// What a given card says about credentials must be what the agent asks for.

// String says what clients have to bring, without the secret.
func (c *Credentials) String() string {
	switch in, name := c.location(); {
	case c.Scheme == BearerAuth:
		return "a bearer token"
	case c.Scheme == BasicAuth:
		return "user and password (basic)"
	case in == "query":
		return "an API key in the query parameter " + name
	default:
		return "an API key in the header field " + name
	}
}

// asked says what the agent asks for.
func (c *cardCheck) asked() string {
	if c.auth == nil {
		return "the agent asks for no credentials"
	}
	return "the agent asks for " + c.auth.String()
}

// checkSecurity10 reads schemes and requirements of 1.0 (§4.4.1, §4.5).
func checkSecurity10(c *cardCheck) {
	c.checkSecurity("securityRequirements", func(f fields, name string) []alternative {
		var all []alternative
		for r := range f.each(name) {
			schemes, _ := r.nested("schemes")
			all = append(all, alternative{r, schemes.object})
		}
		return all
	}, func(scheme fields) (*Credentials, bool) {
		if h, ok := scheme.nested("httpAuthSecurityScheme"); ok {
			return &Credentials{Scheme: AuthScheme(strings.ToLower(h.required("scheme")))}, true
		}
		k, ok := scheme.nested("apiKeySecurityScheme")
		return apiKey(k, "location"), ok
	})
}

// checkSecurity03 reads schemes and requirements of 0.2 and 0.3 (A2A 0.3 §5.5.3).
func checkSecurity03(c *cardCheck) {
	c.checkSecurity("security", func(f fields, name string) []alternative {
		var all []alternative
		for r := range f.each(name) {
			all = append(all, alternative{r, r.object})
		}
		return all
	}, func(scheme fields) (*Credentials, bool) {
		switch scheme.required("type") {
		case "http":
			return &Credentials{Scheme: AuthScheme(strings.ToLower(scheme.required("scheme")))}, true
		case "apiKey":
			return apiKey(scheme, "in"), true
		}
		return nil, false
	})
}

func apiKey(f fields, location string) *Credentials {
	c := &Credentials{Scheme: APIKeyAuth}
	switch f.text(location) {
	case "header":
		c.Header = f.required("name")
	case "query":
		c.Query = f.required("name")
	}
	return c
}

// An alternative is one set of schemes that a requirement is content with.
type alternative struct {
	at      fields
	schemes object
}

// checkSecurity compares the schemes of a card, and the requirements of the card and its skills, with what the agent
// asks for; read turns a scheme into credentials if it is of a kind that the agent can ask for.
func (c *cardCheck) checkSecurity(
	requirements string, alternatives func(f fields, name string) []alternative, read func(fields) (*Credentials, bool),
) {
	schemes, _ := c.nested("securitySchemes")
	for _, m := range schemes.object {
		scheme, ok := schemes.nested(m.name)
		if !ok {
			continue
		}
		if given, ok := read(scheme); !ok || c.auth == nil || !given.same(c.auth) {
			schemes.complain(m.name, "is a scheme for other credentials: "+c.asked())
		}
	}
	required := alternatives(c.fields, requirements)
	if len(required) == 0 && c.auth != nil {
		c.complain(requirements, "is missing: "+c.asked())
	}
	for s := range c.each("skills") {
		required = append(required, alternatives(s, requirements)...)
	}
	for _, r := range required {
		c.checkAlternative(r, schemes.object)
	}
}

// checkAlternative refuses what the agent does not ask for, and what would not be enough for it.
func (c *cardCheck) checkAlternative(r alternative, declared object) {
	note := func(text string) { *r.at.bad = append(*r.at.bad, violation{r.at.path, text}) }
	switch {
	case len(r.schemes) != 1 && (c.auth != nil || len(r.schemes) > 0):
		note("does not name exactly one scheme: " + c.asked())
	case len(r.schemes) == 1 && !has(declared, r.schemes[0].name):
		note("names " + strconv.Quote(r.schemes[0].name) + ", which securitySchemes does not have")
	}
}

// same says whether clients bring the same kind of credentials in the same place.
func (c *Credentials) same(other *Credentials) bool {
	return c.Scheme == other.Scheme && strings.EqualFold(c.Header, other.Header) && c.Query == other.Query
}

// checkSecurity01 reads the authentication of 0.1 (§5.5.2) and of before.
func checkSecurity01(c *cardCheck) {
	f, ok := c.nested("authentication")
	named := f.texts("schemes")
	auth := c.auth
	if auth == nil {
		for _, s := range named {
			if !strings.EqualFold(s, "public") && !strings.EqualFold(s, "none") {
				f.complain("schemes", "names "+strconv.Quote(s)+", and "+c.asked())
			}
		}
		return
	}
	if !ok || len(named) != 1 || !strings.EqualFold(named[0], string(auth.Scheme)) {
		c.complain("authentication", "must name the scheme "+strconv.Quote(string(auth.Scheme))+" alone: "+c.asked())
		return
	}
	if _, free := f.value("credentials").(string); free || auth.Scheme != APIKeyAuth {
		return // 0.1 leaves open what the text says
	}
	in, name := auth.location()
	credentials, _ := f.nested("credentials")
	key, _ := credentials.nested("apiKey")
	if got := key.text(in + "Name"); !strings.EqualFold(got, name) {
		f.complain("credentials", "must name "+strconv.Quote(name)+" in apiKey."+in+"Name: "+c.asked())
	}
}
