package analyzer

import (
	"a2atap/proxy/capture"
)

// Summarise returns the summary of an exchange by itself, for those who have no reading of its capture. What other
// exchanges would tell, such as which binding an agent's card names for a URL, is not in it.
func Summarise(x *capture.Exchange) (sum Summary) {
	e := NewEngine(nil, OnEnded(func(s Summary) { sum = s }))
	for _, s := range capture.Steps(x) {
		e.Step(s)
	}
	if x.State == capture.StateOpen {
		e.End(true)
	}
	return sum
}
