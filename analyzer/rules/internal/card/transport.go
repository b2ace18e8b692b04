package card

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

var cardPreferredTransport = &analysis.Rule{
	ID:     "card-preferred-transport",
	Title:  "agent card does not name its preferred transport",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.6.1", a2a.V0_3),
	Stands: "0.3.0:385",
	Doc: `preferredTransport names the transport at the card's url. Clients that do not find it assume JSON-RPC, which
is right only by luck.`,
	Fix: `Write "preferredTransport": "JSONRPC", or the transport that the agent uses at its url.`,
	Silent: `The finding is a warning, since the types of 0.3 make the member optional with JSONRPC as default. Cards
that are complete in 1.0 are not reported.`,
	Check: func(p *analysis.Pass) {
		if completeModern(p.Card) {
			return
		}
		p.Applied()
		if transport := p.Card.Get("preferredTransport"); !transport.Exists() || transport.IsNull() || transport.Is("") {
			p.Report(p.Place, "the card has no preferredTransport", "expected the transport of its url",
				analysis.AtMost(analysis.Warning))
		}
	},
}

var cardTransportConflict = &analysis.Rule{
	ID:     "card-transport-conflict",
	Title:  "agent card declares another transport for its main URL",
	Level:  analysis.Should,
	Cites:  rule.Cite("5.6.4", a2a.V0_3),
	Stands: "0.3.0:409",
	Doc: `url with preferredTransport and additionalInterfaces together say which transport is used at which URL. If
the list names the main URL only with other transports, a client cannot know which one is meant.`,
	Fix: `List the main URL with its preferred transport too, or give each transport its own URL.`,
	Silent: `A main URL that is not in the list, and one that the list names with several transports including the
preferred one. The text forbids conflicting transports at one URL, and allows one URL to serve several. It recommends
listing the main URL with its own transport, and the rule checks that.`,
	Check: func(p *analysis.Pass) {
		url, transport := p.Card.Get("url").Text(), preferred(p.Card)
		if url == "" || transport == "" || completeModern(p.Card) {
			return
		}
		listed, other := mainListed(p.Card, url, transport)
		if listed || other >= 0 {
			p.Applied()
		}
		if !listed && other >= 0 {
			at := a2a.Ptr("", "additionalInterfaces", other, "transport")
			p.Report(inCard(p, at),
				fmt.Sprintf("the card's url is listed with transport %s only",
					analysis.Quote(p.Card.Get("additionalInterfaces").Elem(other).Get("transport"))),
				"expected it with "+analysis.QuoteText(transport)+" too, its preferred transport")
		}
	},
}

// preferred returns the transport of a card's main URL, or "" if it is no text.
func preferred(card *a2a.Card) string {
	transport := card.Get("preferredTransport")
	if !transport.Exists() || transport.IsNull() {
		return "JSONRPC" // by default
	}
	return transport.Text()
}

// mainListed reports whether additionalInterfaces names the main URL with its transport, and the first position with
// another transport, or -1.
func mainListed(card *a2a.Card, url, transport string) (listed bool, other int) {
	other = -1
	for i, entry := range card.Get("additionalInterfaces").Elems() {
		its := entry.Get("transport").Text()
		switch {
		case its == "" || !a2a.SameURL(entry.Get("url").Text(), url):
		case strings.EqualFold(its, transport):
			listed = true
		case other < 0:
			other = i
		}
	}
	return listed, other
}

var cardAdditionalComplete = &analysis.Rule{
	ID:     "card-additional-complete",
	Title:  "additionalInterfaces without the main interface",
	Level:  analysis.Should,
	Cites:  rule.Cite("5.6.2", a2a.V0_3),
	Stands: "0.3.0:392",
	Doc: `additionalInterfaces should list all interfaces, including the main one. Clients that choose only from the
list do not find the agent's preferred interface.`,
	Fix: `Add an entry with the card's url and its preferredTransport.`,
	Silent: `Cards without the list, with an empty one, or with entries that cannot be read; a main URL that is listed
with another transport, which card-transport-conflict reports; cards that are complete in 1.0.`,
	Check: func(p *analysis.Pass) {
		url, transport := p.Card.Get("url").Text(), preferred(p.Card)
		if isEmptyList(p.Card, p.Card.Get("additionalInterfaces")) || url == "" || transport == "" || completeModern(p.Card) {
			return
		}
		if p.Card.Get("additionalInterfaces").Kind() != a2a.Array {
			return
		}
		for _, entry := range p.Card.Get("additionalInterfaces").Elems() {
			if entry.Get("url").Kind() != a2a.String || entry.Get("transport").Kind() != a2a.String {
				return
			}
		}
		p.Applied()
		if listed, other := mainListed(p.Card, url, transport); !listed && other < 0 {
			p.Report(p.Place.In("additionalInterfaces"), "additionalInterfaces does not name "+analysis.QuoteText(url),
				"expected an entry for the card's url and preferred transport")
		}
	},
}
