package checker

import (
	"path"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/spelling"
)

// A ruleSelection is the rules that --rule and --no-rule select. All rules run nevertheless: an excluded rule still
// suppresses the findings that it covers.
type ruleSelection struct {
	list []*analysis.Rule // in reading order
	ids  map[string]bool
}

// selectRules returns the rules that match a pattern of only, or all rules if only is empty, without those that match a
// pattern of not.
func selectRules(only, not []string) (ruleSelection, error) {
	s := ruleSelection{ids: make(map[string]bool)}
	for _, pattern := range slices.Concat(only, not) {
		if err := matchesRule(pattern); err != nil {
			return s, err
		}
	}
	for _, r := range rules.All {
		if (len(only) == 0 || matchesAny(only, r.ID)) && !matchesAny(not, r.ID) {
			s.list = append(s.list, r)
			s.ids[r.ID] = true
		}
	}
	if len(s.list) == 0 {
		return s, cli.Usage("--rule and --no-rule leave no rule to report on")
	}
	return s, nil
}

// matchesRule returns an error unless the pattern is valid and matches a rule.
func matchesRule(pattern string) error {
	found := false
	for _, r := range rules.All {
		ok, err := path.Match(pattern, r.ID)
		if err != nil {
			return cli.Usage("invalid pattern %q: %w; write a rule's id, or a part of it with *", pattern, err)
		}
		found = found || ok
	}
	if !found {
		return cli.Usage("unknown rule %q; a2atap rules lists the rules%s", pattern, spelling.Hint(pattern, verdict.RuleIDs()))
	}
	return nil
}

func matchesAny(patterns []string, id string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, id)
		return ok && err == nil
	})
}

func (s ruleSelection) all() bool { return len(s.list) == len(rules.All) }

// keeps reports whether a finding belongs to a selected rule, or covers one.
func (s ruleSelection) keeps(f *analysis.Finding) bool {
	return s.ids[f.Rule.ID] || s.isNarrow() && slices.ContainsFunc(f.Also, func(id string) bool { return s.ids[id] })
}

// isNarrow reports whether few rules are selected. In that case, the report includes findings that cover a selected
// rule.
func (s ruleSelection) isNarrow() bool { return len(s.list) < len(rules.All)/2 }

// apply removes everything from the result that does not belong to the selected rules.
func (s ruleSelection) apply(r *judgment.Result) {
	if s.all() {
		return
	}
	r.Keep(s.keeps)
	r.Coverage = slices.DeleteFunc(r.Coverage, func(c judgment.Coverage) bool { return !s.ids[c.Rule.ID] })
	if len(r.Coverage) == 0 {
		r.Counts.Judged = 0 // none of the selected rules was observed
	}
}
