package wire

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

var cardUnavailable = &analysis.Rule{
	ID:       "card-unavailable",
	Title:    "agent card could not be fetched",
	Category: analysis.AgentCard,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.CardSeen | analysis.CardMissed,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: analysis.OnHTTP,
	Cites:    rule.Cite("5.1", rule.Before1...).And("8.1", a2a.V1_0).And("8.2", a2a.V1_0),
	Stands:   "0.1.0:128 0.2.6:131 0.3.0:278 1.0.1:1970 1.0.1:1978",
	Doc: `An agent publishes its card, since clients learn from it where and how to call. If it cannot be fetched,
they never call the agent.`,
	Fix: `Serve the card at /.well-known/agent-card.json (before 0.3: /.well-known/agent.json) without any work that
can fail, preferably from memory. If a client finds the card itself, give it the agent's URL, not the card's.`,
	Silent: `Refusals because of missing credentials, which card-guarded reports; other statuses below 500; and a 404 if
the host serves a card at another path. Any other 404 is a note. It blames no one, since the client may have tried the
path of another version; but if the client appended a card's path to a card's path, it blames the client. 502, 503 and
504, which gateways send, are a note, and so is a failure after which the card was fetched. The finding is reported when
the recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CardSeen {
			if p.Exchange.Call.Operation == a2a.GetCard {
				p.Applied()
			}
			return
		}
		f := card.Missed(p)
		if f.Status != 404 && f.Status < 500 || f.Status == 404 && (f.Later || f.Elsewhere) {
			return
		}
		worst, side, seen, expected := analysis.Error, a2a.Agent, fmt.Sprintf("%s is answered with status %d",
			analysis.QuoteText(p.Exchange.Path), f.Status), "expected the card"
		base, twice := underCard(p.Exchange.Path)
		switch {
		case f.Status == 404 && twice:
			worst, side, expected = analysis.Note, a2a.Client, "expected the path of the card only once: "+analysis.Clip(base)
		case f.Status == 404:
			worst, side, expected = analysis.Note, a2a.Nobody, "expected the card there or at "+otherCardPath(p.Exchange.Path)
		case f.Status >= 502 && f.Status <= 504:
			worst = analysis.Note
		case f.Later:
			worst, seen = analysis.Note, seen+", and later with the card"
		}
		p.Report(p.Place, seen, expected, analysis.AtMost(worst), analysis.By(side))
	},
}

var cardGuarded = &analysis.Rule{
	ID:       "card-guarded",
	Title:    "public agent card refused because of missing credentials",
	Category: analysis.AgentCard,
	Level:    analysis.Advice,
	Side:     a2a.Agent,
	On:       analysis.CardSeen | analysis.CardMissed,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: analysis.OnHTTP,
	Cites:    rule.Cite("5.4", rule.Before1...).And("8.2", a2a.V1_0),
	Stands:   "0.1.0:150 0.2.6:153 0.3.0:300 1.0.1:1978",
	Doc: `The public card says how to authenticate. A client that has to authenticate before it can read the card does
not know how. Put details that are not public into the extended card.`,
	Fix: `Exempt the card's well-known path from authentication in the agent, or in the gateway in front of it, and
move private details into the extended card. If the whole card has to stay private, tell clients how to authenticate
by other means.`,
	Silent: `Cards that a client got from the same URL later or in the meantime, with or without credentials; the
extended card. The finding is a note, since the specification lets agents protect a card, and is reported when the
recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CardSeen {
			if p.Exchange.Call.Operation == a2a.GetCard {
				p.Applied()
			}
			return
		}
		f := card.Missed(p)
		if f.Status != 401 && f.Status != 403 || f.Later {
			return
		}
		sent := ""
		if f.Bare {
			sent = "; no credentials were sent"
		}
		p.Report(p.Place, fmt.Sprintf("%s is answered with status %d%s", analysis.QuoteText(p.Exchange.Path), f.Status, sent),
			"expected the card, which says how to authenticate")
	},
}

var cardBelowEndpoint = &analysis.Rule{
	ID:       "card-below-endpoint",
	Title:    "card requested below the endpoint",
	Category: analysis.AgentCard,
	Level:    analysis.Advice,
	Gravest:  analysis.Warning,
	Side:     a2a.Client,
	On:       analysis.CardSeen | analysis.CardMissed,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: analysis.OnHTTP,
	Cites:    rule.Cite("RFC 8615 §3", rule.Every...),
	Covers:   []string{"card-unavailable", "dialect-mismatch"},
	Doc: `The client has read the card at one path, and later appends the well-known path to the URL of an endpoint in
the card. That URL has no card, so the program does not get one.`,
	Fix: `Fetch the card from the URL where it was found, and store that URL next to the endpoint's: the endpoint's URL
does not show where the card is.`,
	Silent: `Clients that had not read a card of the agent before, and clients that read one afterwards: a client may
try several places. Paths that are not below an endpoint of the card. The finding is reported when the recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CardSeen {
			if p.Exchange.Call.Operation == a2a.GetCard {
				p.Applied()
			}
			return
		}
		for f := range card.Missed(p).Below() {
			p.Report(f.Exchange.ResponsePlace().Status(),
				fmt.Sprintf("%s is requested, below an endpoint of the card, and is answered with status %d",
					analysis.QuoteText(f.Exchange.Path), f.Status),
				fmt.Sprintf("expected a request for the card that the client had read at %s (%s)",
					analysis.QuoteText(pathOf(f.Read.URL)), f.Read.Place), analysis.Of(f.Exchange.Keep()))
		}
	},
}

// pathOf returns the path of a URL.
func pathOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
	}
	return url
}

// underCard returns the path of a card if a client has appended it to the path of a card, as clients do that take the
// card's URL for the agent's.
func underCard(path string) (card string, ok bool) {
	for _, known := range a2a.WellKnownPaths {
		if base, asked := strings.CutSuffix(path, known); asked {
			agent, _, twice := strings.Cut(base+"/", "/.well-known/")
			return agent + known, twice
		}
	}
	return "", false
}

// otherCardPath returns the path at which other versions look for the card that was asked for at a well-known one.
func otherCardPath(path string) string {
	for i, known := range a2a.WellKnownPaths {
		if strings.HasSuffix(path, known) {
			return a2a.WellKnownPaths[1-i]
		}
	}
	return a2a.WellKnownPaths[0]
}
