// Package reach tracks who gets through to whom: which agents could not be reached, and which clients have made calls
// of which none succeeded.
package reach

import (
	"a2atap/analyzer"
	"a2atap/analyzer/recent"
)

// Tracker remembers what kept calls from success.
var Tracker = &analyzer.Tracker{
	Name:  "reach",
	Doc:   "which agents could not be reached, and which calls were refused on links where none succeeded",
	On:    analyzer.AnswerDone | analyzer.CallEnded | analyzer.ExchangeDone | analyzer.CaptureDone,
	Makes: analyzer.AgentGone | analyzer.LinkRefused,
	New: func(*analyzer.Setup) analyzer.State {
		return &Memory{
			origins: recent.New[string, *origin](maxOrigins),
			ways:    recent.New[way, string](maxOrigins),
			links:   recent.New[analyzer.Link, *link](maxLinks),
		}
	},
}

// Of returns what is remembered of who gets through.
func Of(p *analyzer.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Take implements analyzer.State.
func (m *Memory) Take(p *analyzer.Pass) {
	switch p.Kind {
	case analyzer.AnswerDone:
		m.answered(p.Observation)
	case analyzer.CallEnded:
		m.ways.Put(wayOf(p.Exchange), kept(p.Observation))
		m.looked(p.Observation)
	case analyzer.ExchangeDone:
		m.done(p.Observation)
	case analyzer.CaptureDone:
		m.gone(p)
		m.refused(p)
	}
}

// Forgotten implements analyzer.State. Nothing is counted: an agent that is gone was reported when it went, and a link
// without success is in the verdict, whether or not it is known here why.
func (m *Memory) Forgotten() int { return 0 }
