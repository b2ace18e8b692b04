package card

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Schemes is the family of rules about the security schemes of a card.
var Schemes = rule.Family{
	Name:     "scheme",
	Category: analysis.AgentCard,
	Side:     a2a.Agent,
	OfCard:   true,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
}.Of(
	cardSecurityRefs,
	cardSecurityShape,
	cardSchemeDiscriminator,
	cardSchemeOneof,
	cardAPIKeyLocation,
)

var cardSecurityRefs = &analysis.Rule{
	ID:     "card-security-refs",
	Title:  "security requirement names an unknown scheme",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", a2a.V0_2, a2a.V0_3).And("4.5", a2a.V1_0),
	Stands: "0.2.6:types:157 0.3.0:types:441 1.0.1:proto:496",
	Doc: `A security requirement is a list of names, and securitySchemes describes each name. If a name has no entry,
a client does not know which credentials to send, and gives up or sends none.`,
	Fix: `Describe the scheme in securitySchemes under exactly the name that the requirement uses, or remove the
requirement.`,
	Silent: `Schemes that nothing requires; the names of scopes; security of a skill in a card of 0.2, which has no such
member.`,
	Check: func(p *analysis.Pass) {
		schemes := p.Card.Get("securitySchemes")
		if rule.Given(schemes) && schemes.Kind() != a2a.Object { // which card-field-type reports
			return
		}
		for _, r := range requirements(p.Card) {
			for name := range r.names() {
				p.Applied()
				if !schemes.Has(name) {
					p.Report(inCard(p, r.at),
						"the requirement names "+analysis.QuoteText(name)+", which is not in securitySchemes",
						"expected names of the card's schemes")
				}
			}
		}
	},
}

var cardSecurityShape = &analysis.Rule{
	ID:     "card-security-shape",
	Title:  "security requirements in the form of another version",
	Level:  analysis.Must,
	Cites:  rule.Cite("4.5", a2a.V1_0),
	Stands: "1.0.1:proto:495",
	Doc: `In 1.0 the requirements are in securityRequirements, each as {"schemes": {"NAME": {"list": [...]}}}. A typed
client reads the earlier form as an empty requirement, sends no credentials, and is rejected.`,
	Fix: `Write "securityRequirements": [{"schemes": {"bearer": {"list": []}}}].`,
	Silent: `Cards that are also of an earlier version, where either form is fine. The finding is a note if the card
has only the member security of earlier versions, since 1.0 sample cards show that.`,
	Check: func(p *analysis.Pass) {
		if !p.Card.Legacy.Empty() {
			return
		}
		found := false
		for _, r := range requirements(p.Card) {
			p.Applied()
			switch {
			case r.member == "securityRequirements" && r.open():
				p.Report(inCard(p, r.at), "the requirement is "+analysis.Quote(r.Value),
					`expected {"schemes": {NAME: {"list": [...]}}}`)
			case r.member == "security" && !found && !p.Card.Has("securityRequirements"):
				found = true
				p.Report(inCard(p, strings.TrimSuffix(r.at, "/0")), "the requirements are in security",
					"expected them in securityRequirements", analysis.AtMost(analysis.Note))
			}
		}
	},
}

// A requirement is one of the alternatives of a list of security requirements.
type requirement struct {
	a2a.Value
	member string // of the card or the skill: "security" or "securityRequirements"
	at     string // pointer in the card
}

// requirements returns the security requirements of a card and of its skills, in whichever form.
func requirements(card *a2a.Card) []requirement {
	var found []requirement
	gather := func(object a2a.Value, at string) {
		for _, member := range [...]string{"security", "securityRequirements"} {
			for i, v := range object.Get(member).Elems() {
				if v.Kind() == a2a.Object && !misnamed(card, v.Get("schemes")) {
					found = append(found, requirement{v, member, a2a.Ptr(at, member, i)})
				}
			}
		}
	}
	gather(card.Value, "")
	if card.Shapes == a2a.Of(a2a.V0_2) {
		return found
	}
	for i, skill := range card.Get("skills").Elems() {
		if skill.Has("security") || skill.Has("securityRequirements") {
			gather(skill, a2a.Ptr("/skills", i))
		}
	}
	return found
}

// misnamed reports whether the member "schemes" of a requirement, which has the schemes of 1.0, is of another type, and
// no scheme has that name: card-field-type reports it.
func misnamed(card *a2a.Card, schemes a2a.Value) bool {
	return schemes.Exists() && schemes.Kind() != a2a.Object && !card.Get("securitySchemes").Has("schemes")
}

// open reports whether a requirement is in the OpenAPI form: the names of schemes are its members.
func (r *requirement) open() bool {
	return r.Get("schemes").Kind() != a2a.Object && r.Len() > 0
}

// names yields the names of the schemes that a requirement asks for.
func (r *requirement) names() func(yield func(string) bool) {
	object := r.Value
	if !r.open() {
		object = r.Get("schemes")
	}
	return func(yield func(string) bool) {
		for name := range object.Members() {
			if !yield(name) {
				return
			}
		}
	}
}

var cardSchemeDiscriminator = &analysis.Rule{
	ID:     "card-scheme-discriminator",
	Title:  "security scheme without a known type",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", a2a.V0_2, a2a.V0_3),
	Covers: []string{"card-field-type"},
	Stands: "0.2.6:types:493 0.3.0:types:65",
	Doc: `The type of a security scheme says how to read the rest of it. Typed clients use it to choose the class, and
cannot read the whole card if they do not know the type.`,
	Fix: `Write one of apiKey, http, oauth2 and openIdConnect, and since 0.3 also mutualTLS, exactly so. Bearer tokens
are type http with scheme bearer.`,
	Silent: `Schemes in the member of their kind, as in proto JSON of 0.x and in 1.0.`,
	Check: func(p *analysis.Pass) {
		for _, s := range a2a.SecuritySchemes(p.Card.Value) {
			if s.Kind() != a2a.Object || s.Wrapped || kindMembers(s.Value) > 0 {
				continue
			}
			p.Applied()
			at := inCard(p, a2a.Ptr("/securitySchemes", s.Name))
			switch kind := s.Get("type"); {
			case s.Type == a2a.MutualTLSScheme && p.Card.Legacy == a2a.Of(a2a.V0_2):
				p.Report(at.In("type"), "type is "+analysis.Quote(kind), "expected apiKey, http, oauth2 or openIdConnect in 0.2")
			case s.Type != a2a.UnknownScheme:
			case !kind.Exists():
				p.Report(at, "the scheme has no type", "expected apiKey, http, oauth2, openIdConnect or mutualTLS")
			default:
				p.Report(at.In("type"), "type is "+analysis.Quote(kind),
					"expected apiKey, http, oauth2, openIdConnect or mutualTLS")
			}
		}
	},
}

// kindMembers returns how many members of a scheme name its kind, as in 1.0 and in either spelling of the proto JSON of
// 0.x.
func kindMembers(scheme a2a.Value) int {
	n := 0
	for name, v := range scheme.Members() {
		switch name {
		case "apiKeySecurityScheme", "httpAuthSecurityScheme", "oauth2SecurityScheme", "openIdConnectSecurityScheme",
			"mtlsSecurityScheme",
			"api_key_security_scheme", "http_auth_security_scheme", "oauth2_security_scheme",
			"open_id_connect_security_scheme", "mtls_security_scheme":
			if !v.IsNull() {
				n++
			}
		}
	}
	return n
}

var cardSchemeOneof = &analysis.Rule{
	ID:     "card-scheme-oneof",
	Title:  "security scheme is not exactly one of the kinds",
	Level:  analysis.Must,
	Cites:  rule.Cite("4.5", a2a.V1_0),
	Covers: []string{"card-scheme-discriminator"},
	Stands: "1.0.1:proto:504",
	Doc: `In 1.0 a security scheme is an object with one member that names its kind and has the details. If there is
none, clients do not know what to send; if there are two, parsers refuse the card.`,
	Fix: `Write {"httpAuthSecurityScheme": {"scheme": "bearer"}} instead of {"type": "http", "scheme": "bearer"}, with
one entry for each scheme.`,
	Silent: `Cards that are also of an earlier version, where the form with type is accepted. Further members in
addition to the one; members that are null.`,
	Check: func(p *analysis.Pass) {
		for _, s := range a2a.SecuritySchemes(p.Card.Value) {
			value := p.Card.Get("securitySchemes").Get(s.Name)
			if value.Kind() != a2a.Object {
				continue
			}
			p.Applied()
			n := kindMembers(value)
			if n == 1 || n == 0 && s.Type != a2a.UnknownScheme && !p.Card.Legacy.Empty() {
				continue
			}
			seen := "the scheme has none of the members that name its kind"
			if n > 1 {
				seen = "the scheme has several members that name its kind"
			}
			p.Report(inCard(p, a2a.Ptr("/securitySchemes", s.Name)), seen,
				"expected exactly one, such as httpAuthSecurityScheme")
		}
	},
}

var cardAPIKeyLocation = &analysis.Rule{
	ID:     "card-apikey-location",
	Title:  "API key scheme with an unknown location",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", a2a.V0_2, a2a.V0_3).And("4.5", a2a.V1_0),
	Covers: []string{"card-field-type"},
	Stands: "0.2.6:types:512 0.3.0:types:90 1.0.1:proto:522",
	Doc: `An API key goes into the query, a header or a cookie. With any other value, even in another spelling, a
client does not know where to put the key and sends the request without it.`,
	Fix:    `Write query, header or cookie, in lower case. The member is named in up to 0.3, and location in 1.0.`,
	Silent: `A missing location, which counts as a missing member.`,
	Check: func(p *analysis.Pass) {
		for _, s := range a2a.SecuritySchemes(p.Card.Value) {
			if s.Type != a2a.APIKeyScheme {
				continue
			}
			for _, name := range [...]string{"in", "location"} {
				place := s.Get(name)
				if !place.Exists() || place.IsNull() || name == "in" && s.Wrapped {
					continue
				}
				p.Applied()
				if !place.Is("query") && !place.Is("header") && !place.Is("cookie") {
					p.Report(p.Place.At(place.Pointer()), name+" is "+analysis.Quote(place), "expected query, header or cookie")
				}
			}
		}
	},
}
