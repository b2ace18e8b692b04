package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rulestest"
)

// One cause is one finding: in no transcript do two rules report the same place, or one place and a value inside of it.
func TestNothingIsReportedTwice(t *testing.T) {
	t.Parallel()
	for _, path := range rulestest.Names(t) {
		findings := rulestest.FindingsIn(t, path)
		for i := range findings {
			for j := range findings[:i] {
				if f, g := &findings[i], &findings[j]; overlaps(f, g) {
					t.Errorf("%s: %s and %s\n  %s\n  %s", path, g.Rule.ID, f.Rule.ID, g, f)
				}
			}
		}
	}
}

// overlaps reports whether two findings of different rules are about one place. A card is many declarations in one
// object: rules that look at several of them report at the card.
func overlaps(f, g *analysis.Finding) bool {
	if f.Rule.Category == analysis.AgentCard || g.Rule.Category == analysis.AgentCard {
		return false
	}
	if f.Rule == g.Rule || f.Place.Exchange != g.Place.Exchange || f.Place.Response != g.Place.Response ||
		f.Place.Part != g.Place.Part {
		return false
	}
	a, b := fmt.Sprint(f.Place, "/"), fmt.Sprint(g.Place, "/")
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
