package card

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Rewriting is the family of rules about what a tap hides from clients by changing a card.
var Rewriting = rule.Family{
	Name:     "rewriting",
	Category: analysis.AgentCard,
	Side:     a2a.Nobody,
	Once:     analysis.PerOrigin,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
}.Of(
	cardOriginRewritten,
)

var cardOriginRewritten = &analysis.Rule{
	ID:     "card-origin-rewritten",
	Title:  "card leads to another origin than it came from, and the tap hides that",
	Level:  analysis.Advice,
	Cites:  rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Stands: "0.1.0:171 0.2.5:165 0.3.0:types:332 1.0.1:proto:337",
	Doc: `The agent is recorded at one origin (scheme, host and port), and its card names another one, such as localhost for
127.0.0.1. That is not forbidden. But there are clients that compare the two as texts and refuse such a card, send no
credentials or no cookies to the other origin, or are kept from it by a browser's rules. Behind the tap they meet one
origin, since it replaces the URLs in the card: what works here may fail without it.`,
	Fix: `Write the origin into the card at which clients fetch it, or give that of the card to clients and to record
--agent. With record --no-rewrite a client gets the card as it is: if it fails then, that is why.`,
	Silent: `Cards that were not changed on their way, as through the forward proxy, since clients met them as they are;
capital letters and the default port. Interfaces of gRPC, whose clients compare no origins. Paths stay as they are, and are not compared. What else rewriting hides stands in
docs/ways-in.md.`,
	Check: func(p *analysis.Pass) {
		own := originText(p.Exchange.Origin)
		for _, w := range p.Exchange.Rewritten {
			_, pointer, _ := strings.Cut(w.Place, "#")
			if p.Card.At(strings.TrimPrefix(pointer, p.Place.Pointer)).Text() != w.Was {
				continue // another recorder on the way changed what this one had made of it
			}
			if isGRPC(p, strings.TrimPrefix(pointer, p.Place.Pointer)) {
				continue
			}
			p.Applied()
			if originText(w.Was) == own {
				continue
			}
			p.Report(p.Exchange.ResponsePlace().Body().At(pointer),
				fmt.Sprintf("the URL is %s, the agent is recorded at %s, and the tap has made one origin of both",
					analysis.QuoteText(w.Was), own),
				"expected one origin for clients that compare them; --no-rewrite shows what they do")
		}
	},
}

// isGRPC reports whether the URL at a pointer in the card is that of an interface of gRPC.
func isGRPC(p *analysis.Pass, pointer string) bool {
	return slices.ContainsFunc(p.Card.Interfaces, func(entry a2a.Interface) bool {
		return entry.Pointer == pointer && entry.Binding == a2a.GRPC
	})
}

// originText returns the origin of a URL as clients compare it: as a text, but for capital letters, credentials and the
// default port.
func originText(raw string) string {
	scheme, rest, ok := strings.Cut(strings.ToLower(address.Origin(raw)), "://")
	if !ok {
		return ""
	}
	authority := rest[strings.LastIndexByte(rest, '@')+1:]
	switch scheme {
	case "http":
		authority = strings.TrimSuffix(authority, ":80")
	case "https":
		authority = strings.TrimSuffix(authority, ":443")
	}
	return scheme + "://" + authority
}
