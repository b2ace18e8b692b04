package card

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// OAuth is the family of rules about the OAuth flows of a card.
var OAuth = rule.Family{
	Name:     "oauth",
	Category: analysis.AgentCard,
	Side:     a2a.Agent,
	OfCard:   true,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("4.5", a2a.V1_0),
}.Of(
	cardOAuthFlowOne,
	cardOAuthFlowDeprecated,
	cardOAuthURL,
)

// flowNames are the OAuth flows that 1.0 knows, in both spellings of its JSON.
var flowNames = [...][2]string{
	{"authorizationCode", "authorization_code"},
	{"clientCredentials", "client_credentials"},
	{"deviceCode", "device_code"},
	{"implicit", "implicit"},
	{"password", "password"},
}

// wrappedFlows yields the objects that hold the flows of a card's schemes in the form of 1.0.
func wrappedFlows(p *analysis.Pass) func(yield func(a2a.Value) bool) {
	return func(yield func(a2a.Value) bool) {
		for _, s := range a2a.SecuritySchemes(p.Card.Value) {
			if flows := s.Get("flows"); s.Type == a2a.OAuth2Scheme && s.Wrapped && flows.Kind() == a2a.Object && !yield(flows) {
				return
			}
		}
	}
}

var cardOAuthFlowOne = &analysis.Rule{
	ID:     "card-oauth-flow-one",
	Title:  "OAuth scheme without exactly one flow",
	Level:  analysis.Must,
	Stands: "1.0.1:proto:568",
	Doc: `In 1.0 an OAuth scheme has exactly one of the flows. Parsers refuse a card with two, and a client that finds
none cannot get a token.`,
	Fix: `Keep one flow in each scheme. For several flows describe several schemes, and list them as alternatives in
the requirements.`,
	Silent: `Schemes in the form of 0.2 and 0.3, which may have several flows; members that are null. Flows named like
authorizationCodeFlow are a warning, since a migration guide spells them so.`,
	Check: func(p *analysis.Pass) {
		for flows := range wrappedFlows(p) {
			p.Applied()
			n, misspelt := 0, false
			for name, v := range flows.Members() {
				if !v.IsNull() {
					n += boolToInt(isFlow(name))
					misspelt = misspelt || len(name) > 4 && name[len(name)-4:] == "Flow" && isFlow(name[:len(name)-4])
				}
			}
			if n == 1 {
				continue
			}
			seen, worst := "the scheme has no known flow", analysis.Error
			if n > 1 {
				seen = "the scheme has several flows"
			} else if misspelt {
				worst = analysis.Warning
			}
			p.Report(p.Place.At(flows.Pointer()), seen,
				"expected exactly one of authorizationCode, clientCredentials, deviceCode, implicit and password",
				analysis.AtMost(worst))
		}
	},
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func isFlow(name string) bool {
	for _, spellings := range flowNames {
		if name == spellings[0] || name == spellings[1] {
			return true
		}
	}
	return false
}

var cardOAuthFlowDeprecated = &analysis.Rule{
	ID:     "card-oauth-flow-deprecated",
	Title:  "OAuth scheme with a deprecated flow",
	Level:  analysis.Should,
	Stands: "1.0.1:proto:573",
	Doc: `The implicit and password flows pass tokens and passwords through places where they leak, and 1.0 marks both
as deprecated. Clients written for 1.0 need not support them.`,
	Fix:    `Use authorizationCode with PKCE for people, clientCredentials for programs, and deviceCode for devices.`,
	Silent: `Schemes in the form of 0.2 and 0.3, which have both flows.`,
	Check: func(p *analysis.Pass) {
		for flows := range wrappedFlows(p) {
			p.Applied()
			for _, name := range [...]string{"implicit", "password"} {
				if flow := flows.Get(name); flow.Exists() && !flow.IsNull() {
					p.Report(p.Place.At(flow.Pointer()), "the flow "+name+" is offered",
						"expected authorizationCode, clientCredentials or deviceCode")
				}
			}
		}
	},
}

var cardOAuthURL = &analysis.Rule{
	ID:     "card-oauth-url",
	Title:  "URL of an OAuth flow is not absolute or not https",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", a2a.V0_2, a2a.V0_3).And("4.5", a2a.V1_0).And("RFC 6749 §3.1", a2a.V1_0),
	Stands: "0.2.6:types:574 0.3.0:types:183 1.0.1:proto:584",
	Doc: `A client gets its token from these URLs, wherever it runs. A relative URL leads nowhere, and over plain HTTP
others on the network can read codes, client secrets and tokens.`,
	Fix: `Write the full https URLs of the authorization server.`,
	Silent: `Plain HTTP in 0.2, which leaves TLS to OAuth, and for flows other than authorizationCode in 0.3. The
finding is a warning for flows of 1.0 that are not deprecated, since OAuth requires TLS for their URLs and the text of
1.0 does not, and a note for hosts that the public internet cannot reach.`,
	Check: func(p *analysis.Pass) {
		for _, s := range a2a.SecuritySchemes(p.Card.Value) {
			if s.Type != a2a.OAuth2Scheme {
				continue
			}
			judgeOAuthURL(p, s.Get("oauth2MetadataUrl"), tlsIf(!p.Card.Legacy.Has(a2a.V0_2)))
			for name, flow := range s.Get("flows").Members() {
				for _, member := range [...]string{"authorizationUrl", "tokenUrl", "refreshUrl", "deviceAuthorizationUrl"} {
					judgeOAuthURL(p, flow.Get(member), tlsOf(p.Card, name))
				}
			}
		}
	},
}

// A tlsDemand describes the consequences of a URL without TLS.
type tlsDemand struct {
	tls   bool
	worst analysis.Severity
}

func tlsIf(holds bool) tlsDemand { return tlsDemand{holds, analysis.Error} }

// tlsOf returns the TLS requirement of a card's version for the URLs of a flow.
func tlsOf(card *a2a.Card, flow string) tlsDemand {
	switch {
	case card.Legacy == a2a.Of(a2a.V0_3) && flow == "authorizationCode", card.Modern &&
		(flow == "implicit" || flow == "password"):
		return tlsIf(true)
	}
	return tlsDemand{card.Modern, analysis.Warning}
}

func judgeOAuthURL(p *analysis.Pass, v a2a.Value, d tlsDemand) {
	url, ok := v.Str()
	if !ok || url == "" {
		return
	}
	p.Applied()
	at := func() analysis.Place { return p.Place.At(v.Pointer()) }
	switch {
	case !rule.IsAbsolute(url):
		p.Report(at(), "the URL is "+analysis.Quote(v), "expected an absolute URL")
	case d.tls && rule.SchemeOf(url) != "https":
		worst := d.worst
		if rule.ReachOf(url) != rule.FromAnywhere {
			worst = analysis.Note
		}
		p.Report(at(), "the URL is "+analysis.Quote(v), "expected https", analysis.AtMost(worst))
	}
}
