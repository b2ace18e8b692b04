package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/rules"
)

// A ruleSelection is what --rule and --no-rule choose. All rules run whatever it says, so that a rule that is left out does
// not make room for the ones that it covers.
type ruleSelection struct {
	list []*analyzer.Rule // in reading order
	ids  map[string]bool
}

// selectRules returns the rules that match a pattern of only, or all if there is none, without those that match one of not.
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
		return s, usage("--no-rule leaves no rule to judge by")
	}
	return s, nil
}

// matchesRule returns an error unless the pattern is one, and matches a rule.
func matchesRule(pattern string) error {
	found := false
	for _, r := range rules.All {
		ok, err := path.Match(pattern, r.ID)
		if err != nil {
			return usage("no pattern %q: %w; write a rule's id, or a part of it with *", pattern, err)
		}
		found = found || ok
	}
	if !found {
		return usage("no rule %q; a2atap rules lists them%s", pattern, nearest(pattern, ruleIDs()))
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

// keeps reports whether a finding is of a chosen rule, or covers one.
func (s ruleSelection) keeps(f *analyzer.Finding) bool {
	return s.ids[f.Rule.ID] || s.isNarrow() && slices.ContainsFunc(f.Also, func(id string) bool { return s.ids[id] })
}

// isNarrow reports whether few rules are asked for: then one that was broken along with another counts.
func (s ruleSelection) isNarrow() bool { return len(s.list) < len(rules.All)/2 }

// apply leaves in the result what is about the chosen rules.
func (s ruleSelection) apply(r *analyzer.Result) {
	if s.all() {
		return
	}
	r.Keep(s.keeps)
	r.Coverage = slices.DeleteFunc(r.Coverage, func(c analyzer.Coverage) bool { return !s.ids[c.Rule.ID] })
	if len(r.Coverage) == 0 {
		r.Counts.Judged = 0 // none of them had anything to judge
	}
}

// A knownFindings is what --baseline and --update-baseline ask for.
type knownFindings struct {
	file   string
	update bool
	base   *baseline.Baseline // nil without --baseline
}

func openBaseline(file string, update bool) (*knownFindings, error) {
	k := &knownFindings{file: file, update: update}
	if file == "" {
		if update {
			return nil, usage("--update-baseline needs --baseline FILE, the file to write")
		}
		return k, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && update {
		k.base = &baseline.Baseline{}
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w; --update-baseline makes one of what is found now", file, cause(err))
	}
	if k.base, err = baseline.Read(bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w; move it away and make a new one with --update-baseline", file, err)
	}
	return k, nil
}

// apply drops what is known from the result, and counts it. With --update-baseline everything becomes known.
func (k *knownFindings) apply(r *analyzer.Result) {
	if k.base == nil {
		return
	}
	before := len(r.Findings)
	r.Keep(func(f *analyzer.Finding) bool {
		if k.update {
			k.base.Accept(f)
			return false
		}
		return !k.base.Knows(f)
	})
	r.Baselined += before - len(r.Findings)
}

// finish writes the baseline if that was asked for, else names the entries that have become stale.
func (k *knownFindings) finish(e env, r *analyzer.Result) error {
	if k.base == nil {
		return nil
	}
	stale := k.base.Stale(r.Coverage)
	if !k.update {
		for _, entry := range stale {
			e.tell("a2atap: %s: %s of %s %s at %s is not found any more; --update-baseline drops it",
				k.file, entry.Rule, entry.Side, analyzer.Clean(entry.Agent), analyzer.Clean(entry.Place))
		}
		return nil
	}
	k.base.Drop(stale)
	if err := writeFile(k.file, func(w io.Writer) error { return k.base.Write(w) }); err != nil {
		return err
	}
	e.tell("a2atap: %s holds %s", k.file, plural(len(k.base.Known), "known finding"))
	return nil
}
