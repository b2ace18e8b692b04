package rules

import (
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// askingCard returns the newest public card that was seen before the call, if all that were ask every request for
// credentials that can be seen; else nil. Extended cards are for clients that have authenticated.
func askingCard(p *analyzer.Pass) *analyzer.Card {
	return lastOf(p, func(s *a2a.Security) bool { return s.Asks() && !s.Hidden() })
}

// schemeCard is the same for cards that declare schemes, whether or not every request has to use one.
func schemeCard(p *analyzer.Pass) *analyzer.Card {
	return lastOf(p, func(s *a2a.Security) bool {
		return len(s.Schemes) > 0 && !s.Hidden() && !slices.ContainsFunc(s.Schemes, func(w a2a.Want) bool { return w.Type == a2a.MutualTLSScheme })
	})
}

func lastOf(p *analyzer.Pass, holds func(*a2a.Security) bool) *analyzer.Card {
	var last *analyzer.Card
	if !p.Exchange.HeadersKept() || p.Exchange.Call.Operation == a2a.NoOperation {
		return nil
	}
	for _, c := range p.Session.CardsBefore(p.Exchange) {
		if c.Extended {
			continue
		}
		if !holds(&c.Security) {
			return nil
		}
		last = c
	}
	return last
}

// worked reports whether the call succeeded, as far as the first thing that came back tells.
func worked(p *analyzer.Pass) bool {
	if p.Answer == nil || p.Answer.Err != nil || !succeeded(p.Exchange.Response.Status) {
		return false
	}
	switch p.Answer.Payload.Kind {
	case a2a.NoPayload, a2a.NullPayload, a2a.UnknownPayload, a2a.ErrorPayload:
		return false
	}
	return true
}

// challenged reports whether a call came to nothing for a cause that may be its credentials: A2A has no code for that.
func challenged(p *analyzer.Pass) bool {
	if worked(p) {
		return false
	}
	if p.Answer == nil || p.Answer.Err == nil || p.Exchange.Response.Status >= 500 {
		return true
	}
	switch p.Exchange.Response.Status {
	case 401, 403, 404, 407, 429:
		return true
	}
	name := p.Answer.Err.Name
	return !name.A2A() || name == a2a.AuthenticationRequired || name == a2a.AuthorizationFailed || name == a2a.RateLimitExceeded || name == a2a.ResourceUnavailable
}

// bare reports whether a request carries nothing that may be a credential of the card.
func bare(x *analyzer.Exchange, card *analyzer.Card) bool {
	if !x.Bare() {
		return false
	}
	for _, w := range card.Security.Schemes {
		if w.Type == a2a.APIKeyScheme && hasKey(x, w) {
			return false
		}
	}
	return true
}

// satisfied reports whether a request carries what one of the cards asks for that were seen before, extended ones too.
func satisfied(p *analyzer.Pass) bool {
	for _, c := range p.Session.CardsBefore(p.Exchange) {
		if !c.Security.Asks() || slices.ContainsFunc(c.Security.Alternatives, func(all []a2a.Want) bool { return carries(p.Exchange, all) }) {
			return true
		}
	}
	return false
}

// carries reports whether a request carries what all of the schemes ask for.
func carries(x *analyzer.Exchange, all []a2a.Want) bool {
	for _, w := range all {
		if !shows(x, w) {
			return false
		}
	}
	return true
}

func shows(x *analyzer.Exchange, w a2a.Want) bool {
	switch w.Type {
	case a2a.APIKeyScheme:
		return hasKey(x, w)
	case a2a.HTTPScheme:
		scheme := authorization(x)
		return x.Request.Fields.Has("Authorization") && (scheme == "" || w.Scheme == "" || strings.EqualFold(scheme, w.Scheme))
	case a2a.OAuth2Scheme, a2a.OpenIDConnectScheme:
		_, inQuery := x.Call.QueryValue("access_token")
		return inQuery || x.Request.Fields.Has("Authorization") && !strings.EqualFold(authorization(x), "basic")
	}
	return !x.Bare()
}

// hasKey reports whether a request carries an API key where the card says. Its value is nobody's business.
func hasKey(x *analyzer.Exchange, w a2a.Want) bool {
	switch {
	case w.Param == "":
		return true
	case w.In == "header":
		return x.Request.Fields.Has(w.Param)
	case w.In == "query":
		_, ok := x.Call.QueryValue(w.Param)
		return ok
	case w.In == "cookie":
		return x.Request.Fields.Has("Cookie")
	}
	return true
}

// authorization returns the scheme of the Authorization field; "" if it has none, or only a secret.
func authorization(x *analyzer.Exchange) string {
	scheme, _, _ := strings.Cut(x.Request.Fields.Get("Authorization"), " ")
	if len(scheme) == len(x.Request.Fields.Get("Authorization")) {
		return ""
	}
	return scheme
}

// declares reports whether a scheme of a card allows an Authorization field of that scheme.
func declares(w a2a.Want, scheme string) bool {
	switch w.Type {
	case a2a.HTTPScheme:
		return w.Scheme == "" || strings.EqualFold(w.Scheme, scheme)
	case a2a.APIKeyScheme:
		return w.In == "header" && strings.EqualFold(w.Param, "Authorization")
	case a2a.OAuth2Scheme, a2a.OpenIDConnectScheme:
		return strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "dpop")
	case a2a.MutualTLSScheme:
		return false
	}
	return true
}

// carried returns the place and the name of what a request carries in place of what is asked for.
func carried(x *analyzer.Exchange) (analyzer.Place, string) {
	switch scheme := authorization(x); {
	case scheme != "":
		return x.RequestPlace().Header("Authorization"), "Authorization " + analyzer.QuoteText(scheme)
	case x.Bare():
		return x.RequestPlace(), "no credentials"
	}
	return x.RequestPlace(), "others"
}

// wanted says what a card asks for: the names of its schemes, alternatives with "or" between.
func wanted(card *analyzer.Card) string {
	var list []string
	for _, all := range card.Security.Alternatives[:min(len(card.Security.Alternatives), maxNamed)] {
		list = append(list, strings.ReplaceAll(names(all), ", ", " and "))
	}
	return strings.Join(list, " or ")
}

func names(wants []a2a.Want) string {
	var list []string
	for _, w := range wants[:min(len(wants), maxNamed)] {
		list = append(list, analyzer.QuoteText(w.Name))
	}
	return strings.Join(list, ", ")
}
