package rule

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// MaxNamed is how many things of a kind a finding names at most: members, schemes, versions.
const MaxNamed = 8

// AskingCard returns the newest public card seen before the call, if all such cards require visible credentials for
// every request, otherwise nil. Extended cards are for clients that have authenticated.
func AskingCard(p *analysis.Pass) *card.Card {
	return lastCard(p, func(s *a2a.Security) bool { return s.Asks() && !s.Hidden() })
}

// SchemeCard is AskingCard for cards that declare schemes, whether or not every request must use one.
func SchemeCard(p *analysis.Pass) *card.Card {
	return lastCard(p, func(s *a2a.Security) bool {
		return len(s.Schemes) > 0 && !s.Hidden() &&
			!slices.ContainsFunc(s.Schemes, func(w a2a.Want) bool { return w.Type == a2a.MutualTLSScheme })
	})
}

// lastCard returns the newest public card seen before the call, if holds is true for all of them, otherwise nil.
func lastCard(p *analysis.Pass, holds func(*a2a.Security) bool) *card.Card {
	var last *card.Card
	if !p.Exchange.CredentialsKept() || p.Exchange.Call.Operation == a2a.NoOperation {
		return nil
	}
	for _, c := range card.Of(p).Before(p.Exchange) {
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

// NoCredentials reports whether a request carries nothing that may be a credential of the card.
func NoCredentials(x *analysis.Exchange, card *card.Card) bool {
	return x.Bare() && !x.CarriesKeyOf(card.Security.Schemes)
}

// AuthorizationScheme returns the scheme of the Authorization field, or "" if it is missing or has only a secret.
func AuthorizationScheme(x *analysis.Exchange) string {
	scheme, _, _ := strings.Cut(x.Request.Fields.Get("Authorization"), " ")
	if len(scheme) == len(x.Request.Fields.Get("Authorization")) {
		return ""
	}
	return scheme
}

// SchemeNames lists the names of security schemes as a finding shows them.
func SchemeNames(wants []a2a.Want) string {
	var list []string
	for _, w := range wants[:min(len(wants), MaxNamed)] {
		list = append(list, analysis.QuoteText(w.Name))
	}
	return strings.Join(list, ", ")
}
