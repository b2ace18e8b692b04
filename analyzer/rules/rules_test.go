package rules_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/analyzertest"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/must"
)

var _ = flag.Bool("update", false, "rewrite the want sections to what is found now") // read by analyzertest.Run

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // what is alive is little: this saves a fifth of the time
	os.Exit(m.Run())
}

func TestValid(t *testing.T) {
	must.Do(t, analysis.Validate(rules.All))
}

// What is listed as never observed has a name and a reason of its own, and no rule.
func TestUnobserved(t *testing.T) {
	seen := make(map[string]bool)
	for _, u := range rules.Unobserved {
		if u.Title == "" || u.Reason == "" || u.Level == analysis.Advice || seen[u.ID] {
			t.Errorf("%+v is not complete, or stands twice", u)
		}
		seen[u.ID] = true
		if rules.ByID(u.ID) != nil {
			t.Errorf("%s is listed as never observed, and there is a rule", u.ID)
		}
		if found, ok := rules.UnobservedByID(u.ID); !ok || found != u {
			t.Errorf("%s: found %+v", u.ID, found)
		}
	}
}

// Each transcript lists every finding of every rule, so silence is asserted too.
func TestTranscripts(t *testing.T) { analyzertest.Run(t, "testdata") }

// Every rule is provoked by a transcript that bears its name, and has a near miss in which it applied and stayed
// silent.
func TestEveryRuleIsProved(t *testing.T) {
	t.Parallel()
	provoked, silent := make(map[string]bool), make(map[string]bool)
	for _, path := range rulestest.Names(t) {
		name := filepath.Base(path)
		found := make(map[string]analysis.Severity) // plus one, so that nothing is less than a note
		for _, f := range rulestest.FindingsIn(t, path) {
			found[f.Rule.ID] = max(found[f.Rule.ID], f.Severity+1)
		}
		for _, r := range rules.All {
			if !strings.HasPrefix(name, r.ID) {
				continue
			}
			provoked[r.ID] = provoked[r.ID] || found[r.ID] > 0
			silent[r.ID] = silent[r.ID] || strings.HasSuffix(name, "-near") && found[r.ID] <= r.Level.Severity()
		}
	}
	for _, r := range rules.All {
		if !provoked[r.ID] {
			t.Errorf("rule %s: no scenario %s* provokes it", r.ID, r.ID)
		}
		if !silent[r.ID] {
			t.Errorf("rule %s: no scenario %s-near stays below the rule's severity", r.ID, r.ID)
		}
	}
}

func lines(findings []analysis.Finding) []string {
	var list []string
	for i := range findings {
		list = append(list, findings[i].String())
	}
	return list
}

// sample returns one transcript of every oneIn, other ones for each test.
func sample(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, path := range rulestest.Names(t) {
		if rulestest.Random(t.Name()+" "+path).IntN(oneIn) == 0 {
			list = append(list, path)
		}
	}
	if len(list) < 50 {
		t.Fatalf("%d transcripts show too little", len(list))
	}
	return list
}

// The catalogue is whole: what is not in it is listed with the reason.
func TestCatalogueIsWhole(t *testing.T) {
	if n := len(rules.All) + len(rules.Unobserved); n < 371 {
		t.Errorf("%d rules, with %d that cannot be observed; want the 369 of the protocol's catalogue and two of our own",
			len(rules.All), len(rules.Unobserved))
	}
	if len(rules.All) < 350 {
		t.Errorf("%d rules can be observed", len(rules.All))
	}
}
