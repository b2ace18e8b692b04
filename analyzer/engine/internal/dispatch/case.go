package dispatch

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
)

// A Case is an exchange, and what is kept beside it for its findings as long as it is open.
type Case struct {
	X          *analysis.Exchange
	Judged     bool          // at least one rule applied
	Faulted    bool          // the recorder made a fault in it
	Card       digest.Digest // of the card that it was answered with; 0 if it was not
	AtEndpoint *Reported     // of the agent, where the exchange has an endpoint

	reported Reported // rules that report once an exchange and have
}

// A Reported says which rules have had their report in a scope, and of which severities.
type Reported map[string]severities

// A severities is a set of severities.
type severities uint8

// add adds that a rule has reported, and says whether that is new.
func (r *Reported) add(rule string, s analysis.Severity) bool {
	if *r == nil {
		*r = make(Reported)
	}
	had := (*r)[rule]
	(*r)[rule] = had | 1<<s
	return had&(1<<s) == 0
}

// addWorse adds a report under a key, and says whether none there was as bad.
func (r *Reported) addWorse(key string, s analysis.Severity) bool {
	had := (*r)[key]
	return r.add(key, s) && had>>s == 0
}
