package compare

import (
	"regexp"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
)

var (
	numbers  = regexp.MustCompile(`\d+`)
	wrapping = regexp.MustCompile(`#(/result)?(/(task|message|statusUpdate|artifactUpdate))?`) // what is answered
)

// NewFindings returns the findings of the live run without a counterpart in the recorded one. A counterpart is the
// same rule, broken by the same side in the same operation, at a place that differs only in numbers and in the
// envelope that binding and dialect add.
func NewFindings(recorded, live []analysis.Finding) []analysis.Finding {
	shape := func(rule string, f *analysis.Finding) string {
		at := f.Place
		at.Exchange = 0
		return strings.Join([]string{
			rule, f.Side.String(), f.Operation.String(),
			wrapping.ReplaceAllString(numbers.ReplaceAllString(at.String(), "*"), "#"),
		}, "\x00")
	}
	known := map[string]bool{}
	for i := range recorded {
		f := &recorded[i]
		for _, rule := range append(slices.Clone(f.Also), f.Rule.ID) {
			known[shape(rule, f)] = true
		}
	}
	var found []analysis.Finding
	for i := range live {
		if !known[shape(live[i].Rule.ID, &live[i])] {
			found = append(found, live[i])
		}
	}
	return found
}
