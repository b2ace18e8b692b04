package auth

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// challenged reports whether a call failed for a cause that may be its credentials: A2A has no code for that.
func challenged(p *analysis.Pass) bool {
	if rule.CallSucceeded(p) {
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
	return !name.A2A() || name == a2a.AuthenticationRequired || name == a2a.AuthorizationFailed ||
		name == a2a.RateLimitExceeded || name == a2a.ResourceUnavailable
}

// satisfied reports whether a request carries the credentials that an earlier card requests, including extended cards.
func satisfied(p *analysis.Pass) bool {
	for _, c := range card.Of(p).Before(p.Exchange) {
		if !c.Security.Asks() ||
			slices.ContainsFunc(c.Security.Alternatives, func(all []a2a.Want) bool { return carries(p.Exchange, all) }) {
			return true
		}
	}
	return false
}

// carries reports whether a request carries the credentials of all the schemes.
func carries(x *analysis.Exchange, all []a2a.Want) bool {
	for _, w := range all {
		if !carriesOne(x, w) {
			return false
		}
	}
	return true
}

func carriesOne(x *analysis.Exchange, w a2a.Want) bool {
	switch w.Type {
	case a2a.APIKeyScheme:
		return x.CarriesKey(w)
	case a2a.HTTPScheme:
		scheme := rule.AuthorizationScheme(x)
		return x.Request.Fields.Has("Authorization") &&
			(scheme == "" || w.Scheme == "" || strings.EqualFold(scheme, w.Scheme))
	case a2a.OAuth2Scheme, a2a.OpenIDConnectScheme:
		_, inQuery := x.Call.QueryValue("access_token")
		return inQuery || x.Request.Fields.Has("Authorization") && !strings.EqualFold(rule.AuthorizationScheme(x), "basic")
	}
	return !x.Bare()
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

// carriedText returns the place and the name of the credentials that a request carries instead of the requested ones.
func carriedText(x *analysis.Exchange) (analysis.Place, string) {
	switch scheme := rule.AuthorizationScheme(x); {
	case scheme != "":
		return x.RequestPlace().Header("Authorization"), "Authorization " + analysis.QuoteText(scheme)
	case x.Bare():
		return x.RequestPlace(), "no credentials"
	}
	return x.RequestPlace(), "others"
}

// wantedText describes the credentials that a card requests: the names of its schemes, alternatives with "or" between.
func wantedText(card *card.Card) string {
	var list []string
	for _, all := range card.Security.Alternatives[:min(len(card.Security.Alternatives), rule.MaxNamed)] {
		list = append(list, strings.ReplaceAll(rule.SchemeNames(all), ", ", " and "))
	}
	return strings.Join(list, " or ")
}

// carriersText describes the credentials that a card requires and where requests carry them: `"bearer" (Authorization:
// Bearer)`, with "or" between alternatives. A card that declares schemes without requiring one leaves the choice.
func carriersText(card *card.Card) string {
	alternatives := card.Security.Alternatives
	if !card.Security.Asks() {
		alternatives = nil
		for _, w := range card.Security.Schemes {
			alternatives = append(alternatives, []a2a.Want{w})
		}
	}
	var list []string
	for _, all := range alternatives[:min(len(alternatives), rule.MaxNamed)] {
		var names []string
		for _, w := range all[:min(len(all), rule.MaxNamed)] {
			name := analysis.QuoteText(w.Name)
			if carrier := carrierText(w); carrier != "" {
				name += " (" + carrier + ")"
			}
			names = append(names, name)
		}
		list = append(list, strings.Join(names, " and "))
	}
	return strings.Join(list, " or ")
}

// carrierText describes where a request carries the credentials of a scheme.
func carrierText(w a2a.Want) string {
	switch w.Type {
	case a2a.APIKeyScheme:
		place := map[string]string{"header": "header ", "query": "query parameter ", "cookie": "cookie "}[w.In]
		return place + analysis.Clip(w.Param)
	case a2a.HTTPScheme:
		scheme := analysis.Clip(w.Scheme)
		if scheme == strings.ToLower(scheme) && scheme != "" {
			scheme = strings.ToUpper(scheme[:1]) + scheme[1:]
		}
		return strings.TrimSuffix("Authorization: "+scheme, ": ")
	case a2a.OAuth2Scheme, a2a.OpenIDConnectScheme:
		return "Authorization: Bearer"
	}
	return ""
}

func callsText(n int) string {
	if n == 1 {
		return "1 call was"
	}
	return fmt.Sprintf("%d calls were", n)
}
