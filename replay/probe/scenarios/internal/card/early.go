package card

import (
	"context"
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Early are about cards before 0.1.
var Early = scenario.In(probe.Scenario{
	Category: analysis.AgentCard, Level: analysis.Should, Protocols: []client.Protocol{client.Early}, Once: true,
	Sections: []string{"Fetch §3.2"},
}, []*probe.Scenario{
	{
		ID: "card-cross-origin", Title: "web pages of any origin may read the card",
		Tags: []string{"card", "S4-6.2a", "S4-6.2b"},
		Fix:  "Send Access-Control-Allow-Origin: * with the card, and answer OPTIONS.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if s.Card == nil {
				return probe.Unclear("not tested: there is no card")
			}
			header := http.Header{"Origin": {"https://page.example"}}
			a, err := s.AskAnonymously(ctx, http.MethodGet, s.Card.URL, header, nil)
			if err != nil {
				return err
			}
			if !a.Header.Has("Access-Control-Allow-Origin") {
				return probe.Fail("Access-Control-Allow-Origin", "a card without it")
			}
			header.Set("Access-Control-Request-Method", http.MethodGet)
			if a, err = s.AskAnonymously(ctx, http.MethodOptions, s.Card.URL, header, nil); err != nil {
				return err
			}
			if a.Status/100 != 2 || !a.Header.Has("Access-Control-Allow-Origin") {
				return probe.Fail("OPTIONS allowed, with Access-Control-Allow-Origin", "%s", scenario.Brief(a))
			}
			return nil
		},
	},
})
