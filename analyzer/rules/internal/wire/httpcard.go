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
	Doc: `An agent makes its card available, since clients learn from it where and how to call. When the fetch fails,
nothing else of the agent is ever tried.`,
	Fix: `Serve the card at /.well-known/agent-card.json (before 0.3: /.well-known/agent.json) without any work that can
fail, best from memory. Give clients that look for the card themselves the agent's URL, not the card's.`,
	Silent: `Refusals for want of credentials, and a 404 where the host serves a card at another path. Other 404 are a
note that accuses nobody, since the client may have asked at the path of another version; or the client, where it has put
the path of a card behind that of a card. 502, 503 and 504, which gateways answer, are a note, and so is a failure after
which the card came. It is said at the end of the recording.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CardSeen {
			if p.Exchange.Call.Operation == a2a.GetCard {
				p.Applied()
			}
			return
		}
		f := card.Missed(p)
		if f.Status == 200 || f.Status == 404 && (f.Later || f.Elsewhere) {
			return
		}
		worst, side, seen, expected := analysis.Error, a2a.Agent, fmt.Sprintf("%s is answered with status %d",
			analysis.QuoteText(p.Exchange.Path), f.Status), "expected the card"
		base, twice := underCard(p.Exchange.Path)
		switch {
		case f.Status == 404 && twice:
			worst, side, expected = analysis.Note, a2a.Client, "expected the path of the card once: "+analysis.Clip(base)
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

// underCard returns the path of a card where a client has put it behind that of a card, as those do that are given the
// card's URL and take it for the agent's.
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
