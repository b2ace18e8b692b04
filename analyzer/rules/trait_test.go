package rules_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/analyzer/track/card"
)

// alwaysAsked is the catalogue without what says where a rule has nothing to judge.
var alwaysAsked = func() []*analysis.Rule {
	var list []*analysis.Rule
	for _, r := range rules.All {
		one := *r
		one.If, one.Odd = 0, 0
		list = append(list, &one)
	}
	return list
}()

// That rules are not asked where they say that they have nothing to judge changes neither what is found in a transcript
// nor how often a rule applied.
func TestRulesAreAskedInTime(t *testing.T) {
	t.Parallel()
	for _, path := range sample(t) {
		always := judgeBy(t, alwaysAsked, rulestest.Exchanges(t, path))
		if diff := cmp.Diff(always, linesOf(rulestest.Checked(t, path))); diff != "" {
			t.Errorf("%s: -always asked +as they say:\n%s", path, diff)
		}
	}
}

// Which cards there are only their tracker says: a rule that is asked where there are some needs it, whatever other rules
// are run.
func TestTraitsOfCardsNeedTheirTracker(t *testing.T) {
	const ofCards = analysis.Carded | analysis.Offered
	some := false
	for _, r := range rules.All {
		if some = some || r.If&ofCards != 0; r.If&ofCards != 0 && !slices.Contains(r.Needs, card.Tracker) {
			t.Errorf("%s is asked where there are cards, and does not name their tracker", r.ID)
		}
		if r.If&analysis.Offered != 0 && r.On != analysis.RequestSeen {
			t.Errorf("%s is asked later than its request is seen, when cards may have come", r.ID)
		}
	}
	if !some {
		t.Error("no rule is asked where there are cards only")
	}
}
