package dispatch

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// maxFaulted bounds the exchanges with faults that are remembered.
const maxFaulted = 10_000

// faults knows the answers into which the recorder injected faults on request.
type faults struct {
	exchanges *recent.Map[uint64, struct{}] // by number; nil without any
	agents    map[string]bool               // by name: agents with answers that are unknown because of faults
}

// note records a fault in an answer; hides is whether the agent's real answer is unknown.
func (f *faults) note(x *analysis.Exchange, hides bool) {
	if f.exchanges == nil {
		f.exchanges = recent.New[uint64, struct{}](maxFaulted)
	}
	f.exchanges.Put(x.Seq, struct{}{})
	if !hides {
		return
	}
	if f.agents == nil {
		f.agents = make(map[string]bool)
	}
	f.agents[x.Link.Agent] = true
}

// mayBlame drops findings of a check that may be due to an injected fault. It returns the others, and whether the check
// counts: it does not if all its findings were dropped. An agent is not blamed for an answer with a fault, nor for
// findings based on earlier traffic once one of its real answers is unknown. Clients are judged by the data that they
// received.
func (f *faults) mayBlame(c *Case, found []analysis.Finding) (rest []analysis.Finding, counts bool) {
	if f.exchanges == nil || len(found) == 0 {
		return found, true
	}
	rest = slices.DeleteFunc(found, func(g analysis.Finding) bool {
		if g.Side != a2a.Agent && g.Side != a2a.Nobody {
			return false
		}
		_, faulted := f.exchanges.Get(g.Place.Exchange)
		return faulted || c.Faulted || f.agents[g.Link.Agent] && len(g.Rule.Needs) > 0
	})
	return rest, len(rest) > 0
}
