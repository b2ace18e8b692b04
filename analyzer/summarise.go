package analyzer

import (
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Summarise returns the summary of an exchange by itself, for those who have no reading of its capture. What other
// exchanges would tell, such as which binding an agent's card names for a URL, is not in it, unless an option tells. Of
// a long stream the first and the last events are enough.
func Summarise(x *capture.Exchange, options ...EngineOption) (sum Summary) {
	e := NewEngine(nil, append(options, OnEnded(func(s Summary) { sum = s }))...)
	for _, s := range capture.Steps(x) {
		e.Step(s)
	}
	if x.State == capture.StateOpen {
		e.End(true)
	}
	return sum
}

// Knowing returns an option with which an engine asks f what is known of the URL of a request: the target of the
// request, in any form, to the agent at a URL that may be empty.
func Knowing(f func(agentURL, target string) a2a.Known) EngineOption {
	return func(e *Engine) { e.knowing = f }
}

// knownOf says what is known of the URL of a request, for the recognition of what it asks.
func (e *Engine) knownOf(in *intake) a2a.Known {
	if e.knowing != nil {
		return e.knowing(in.gathered.AgentURL, in.gathered.Target)
	}
	return e.endpoints.knownAt(in.x)
}
