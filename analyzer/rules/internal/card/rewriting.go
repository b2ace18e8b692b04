package card

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
	"a2atap/proxy/hostname"
)

// Rewriting is the family of rules about faults that a tap hides from clients by changing a card.
var Rewriting = rule.Family{
	Name:     "rewriting",
	Category: analysis.AgentCard,
	Once:     analysis.PerOrigin,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
}.Of(
	cardSchemeRewritten,
	cardOriginRewritten,
)

var cardSchemeRewritten = &analysis.Rule{
	ID:      "card-scheme-rewritten",
	Title:   "card names the wrong scheme for the agent's port, and the tap hides that",
	Level:   analysis.Advice,
	Gravest: analysis.Warning,
	Side:    a2a.Agent,
	Cites:   rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Covers:  []string{"card-origin-rewritten"},
	Stands:  "0.1.0:171 0.2.5:165 0.3.0:types:332 1.0.1:proto:337",
	Doc: `The agent uses TLS on a port that its card names with http://, or no TLS on a port that the card names with
https://. Without the tap a client connects as the card says, and gets no answer at all. Behind the tap it works,
since the tap replaces the URL.`,
	Fix: `Write the scheme that clients have to use into the card. Behind a proxy that terminates TLS, configure the
agent's public URL.`,
	Silent: `Cards that were not rewritten; URLs with another host or port than the agent's, which may differ;
addresses without a scheme, and with schemes other than http and https.`,
	Check: func(p *analysis.Pass) {
		own := p.Exchange.Origin
		for _, w := range p.Exchange.Rewritten {
			_, pointer, _ := strings.Cut(w.Place, "#")
			if p.Card.At(strings.TrimPrefix(pointer, p.Place.Pointer)).Text() != w.Was || !samePort(w.Was, own) {
				continue
			}
			p.Applied()
			if speaks, says := rule.SchemeOf(own), rule.SchemeOf(w.Was); speaks != says {
				p.Report(p.Exchange.ResponsePlace().Body().At(pointer),
					fmt.Sprintf("the URL is %s, and the agent answers at %s: a client without the tap cannot connect",
						analysis.QuoteText(w.Was), originText(own)), "expected "+speaks+"://")
			}
		}
	},
}

// samePort reports whether two URLs of http or https name one port of one host, whatever their schemes.
func samePort(a, b string) bool {
	at, errA := url.Parse(a)
	is, errB := url.Parse(b)
	return errA == nil && errB == nil && isHTTP(at) && isHTTP(is) && hostname.OriginOf(at) == hostname.OriginOf(is)
}

// isHTTP reports whether a URL has a host and the scheme http or https.
func isHTTP(u *url.URL) bool { return u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") }

var cardOriginRewritten = &analysis.Rule{
	ID:     "card-origin-rewritten",
	Title:  "card names another origin than its own, and the tap hides that",
	Level:  analysis.Advice,
	Side:   a2a.Nobody,
	Cites:  rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Stands: "0.1.0:171 0.2.5:165 0.3.0:types:332 1.0.1:proto:337",
	Doc: `The agent is recorded at one origin (scheme, host and port), and its card names another one, such as localhost
for 127.0.0.1. That is not forbidden. But some clients compare the two as texts and refuse such a card, send no
credentials or cookies to the other origin, or are blocked by a browser's rules. Behind the tap such clients see one
origin, since the tap replaces the URLs in the card: a client that works here may fail without the tap.`,
	Fix: `Write the origin into the card at which clients fetch it, or give the card's origin to clients and to record
--agent. With record --no-rewrite a client gets the original card: if it fails then, this is the cause.`,
	Silent: `Cards that were not rewritten, as through the forward proxy, since clients received them unchanged;
capital letters and the default port. Interfaces of gRPC, whose clients do not compare origins. Paths are neither
rewritten nor compared. docs/connecting.md lists what else rewriting hides.`,
	Check: func(p *analysis.Pass) {
		own := originText(p.Exchange.Origin)
		for _, w := range p.Exchange.Rewritten {
			_, pointer, _ := strings.Cut(w.Place, "#")
			if p.Card.At(strings.TrimPrefix(pointer, p.Place.Pointer)).Text() != w.Was {
				continue // another recorder on the route changed the URL again
			}
			if isGRPC(p, strings.TrimPrefix(pointer, p.Place.Pointer)) {
				continue
			}
			p.Applied()
			if originText(w.Was) == own {
				continue
			}
			p.Report(p.Exchange.ResponsePlace().Body().At(pointer),
				fmt.Sprintf("the URL is %s, the agent is recorded at %s, and the tap has replaced both by one origin",
					analysis.QuoteText(w.Was), own),
				"expected one origin for clients that compare them; --no-rewrite shows what they do")
		}
	},
}

// isGRPC reports whether the URL at a pointer in the card belongs to a gRPC interface.
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
