package dispatch

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
)

// A Case is an exchange with the data for its findings while it is open.
type Case struct {
	X          *analysis.Exchange
	Judged     bool          // at least one rule applied
	Faulted    bool          // the recorder injected a fault into it
	Card       digest.Digest // of the card in its response; 0 without one
	AtEndpoint *Reported     // of the agent, if the exchange has an endpoint

	reported Reported // rules that have reported and do so once per exchange
}

// A Reported has the rules that were reported in a scope, and their severities.
type Reported map[string]severities

// A severities is a set of severities.
type severities uint8

// add records that a rule has reported, and returns whether this is the first time.
func (r *Reported) add(rule string, s analysis.Severity) bool {
	if *r == nil {
		*r = make(Reported)
	}
	had := (*r)[rule]
	(*r)[rule] = had | 1<<s
	return had&(1<<s) == 0
}

// addWorse records a report under a key, and returns whether no earlier one was as severe.
func (r *Reported) addWorse(key string, s analysis.Severity) bool {
	had := (*r)[key]
	return r.add(key, s) && had>>s == 0
}
