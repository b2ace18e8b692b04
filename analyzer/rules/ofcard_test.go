package rules_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
)

// TestRulesOfCards fetches the cards of the transcripts again and again, as SDKs do. That rules which take nothing but
// the card are not run on it each time changes neither what is found nor how often a rule applied.
func TestRulesOfCards(t *testing.T) {
	t.Parallel()
	var each []*analysis.Rule
	quiet := 0
	for _, r := range rules.All {
		one := *r
		one.OfCard = false
		each = append(each, &one)
		if r.OfCard {
			quiet++
		}
	}
	if quiet < 20 {
		t.Errorf("only %d rules take nothing but the card", quiet)
	}
	cards := 0
	for _, path := range sample(t) {
		var fetches []*capture.Exchange
		for _, x := range rulestest.Exchanges(t, path) {
			if x.Response != nil && bearsCard(x) {
				fetches = append(fetches, x)
			}
		}
		cards += len(fetches)
		list := slices.Clone(fetches)
		for round := range 3 {
			for _, x := range fetches {
				again := *x
				again.Seq = uint64(len(list) + 1)
				again.Started = x.Started.Add(time.Duration(round+1) * time.Hour)
				if round == 1 {
					again.Client.Name += " of another kind"
				}
				list = append(list, &again)
			}
		}
		for i := range list[:len(fetches)] {
			first := *list[i]
			first.Seq = uint64(i + 1)
			list[i] = &first
		}
		if diff := cmp.Diff(judgeBy(t, each, list), judgeBy(t, rules.All, list)); diff != "" {
			t.Errorf("%s: -each time +once:\n%s", path, diff)
		}
	}
	if cards*oneIn < 100 {
		t.Errorf("the transcripts have only %d cards", cards)
	}
}

// judgeBy returns what rules find in exchanges, and how often they applied.
func judgeBy(t *testing.T, list []*analysis.Rule, exchanges []*capture.Exchange) []string {
	t.Helper()
	return linesOf(rulestest.Check(t, list, exchanges))
}

// linesOf says what was found, and how often rules applied.
func linesOf(result *judgment.Result) []string {
	var lines []string
	for i := range result.Findings {
		f := &result.Findings[i]
		lines = append(lines, fmt.Sprint(f.Rule.ID, " ", f.Severity, " ", f.Place, " ", f.Message()))
	}
	for _, c := range result.Coverage {
		lines = append(lines, fmt.Sprint(c.Rule.ID, " ", c.Link, " ", c.Applied, " ", c.Broken))
	}
	return lines
}
