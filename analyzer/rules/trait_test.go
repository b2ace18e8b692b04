package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
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
	for _, path := range transcripts(t) {
		exchanges := parse(t, filepath.Join("testdata", path)).Exchanges
		if diff := cmp.Diff(judgeBy(t, alwaysAsked, exchanges), judgeBy(t, rules.All, exchanges)); diff != "" {
			t.Errorf("%s: -always asked +as they say:\n%s", path, diff)
		}
	}
}
