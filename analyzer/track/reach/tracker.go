// Package reach tracks reachability: which agents could not be reached, and which clients have made calls without any
// success.
package reach

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Tracker remembers why calls did not succeed.
var Tracker = &analysis.Tracker{
	Name:  "reach",
	Doc:   "which agents could not be reached, which calls were refused on links where none succeeded, and where redirects led",
	Needs: []*analysis.Tracker{card.Tracker},
	On: analysis.RequestRead | analysis.AnswerDone | analysis.CallEnded | analysis.ExchangeDone |
		analysis.CaptureDone,
	Makes: analysis.AgentGone | analysis.LinkRefused | analysis.RedirectMissed | analysis.LoginMissed,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			cards:   s.State(card.Tracker).(*card.Memory),
			led:     recent.New[led, *Redirect](maxOrigins),
			visits:  recent.New[led, uint64](maxOrigins),
			origins: recent.New[string, *origin](maxOrigins),
			links:   recent.New[analysis.Link, *link](maxLinks),
		}
	},
}

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	switch p.Kind {
	case analysis.RequestRead:
		m.came(p)
		m.carried(p.Exchange)
	case analysis.AnswerDone:
		m.answered(p.Observation)
		m.login(p.Observation)
		m.redirected(p.Observation)
	case analysis.CallEnded:
		if p.Exchange.Call.Operation != a2a.Webhook { // where no client takes the host for an agent
			m.looked(p.Observation)
		}
	case analysis.ExchangeDone:
		m.done(p.Observation)
	case analysis.CaptureDone:
		m.gone(p)
		m.refused(p)
		m.notFollowed(p)
		m.noLogin(p)
	}
}

// Forgotten implements analysis.State. Nothing is counted: a missing agent was reported when it went, and a link
// without success is in the verdict, whether or not the reason is known here.
func (m *Memory) Forgotten() int { return 0 }
