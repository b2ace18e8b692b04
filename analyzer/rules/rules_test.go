package rules_test

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/analyzertest"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
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
	for _, path := range transcripts(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		found := make(map[string]analysis.Severity) // plus one, so that nothing is less than a note
		for _, f := range judgeFile(t, path) {
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
			t.Errorf("rule %s: no transcript %s*.txtar provokes it", r.ID, r.ID)
		}
		if !silent[r.ID] {
			t.Errorf("rule %s: no transcript %s-near.txtar stays below the rule's severity", r.ID, r.ID)
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

func judge(t *testing.T, exchanges []*capture.Exchange) []analysis.Finding {
	t.Helper()
	return judgeAll(t, rules.All, exchanges).Findings
}

func judgeAll(t *testing.T, list []*analysis.Rule, exchanges []*capture.Exchange) *judgment.Result {
	t.Helper()
	memory := must.Get(capture.ReadMemory(capture.Info{}, capture.Each(exchanges...)))(t)
	return must.Get(engine.Run(context.Background(), list, memory, nil))(t)
}

// A told is a transcript and what judging it comes to.
type told struct {
	exchanges []*capture.Exchange
	result    *judgment.Result
}

// judged holds what finds that out, once, by the path of the transcript.
var judged sync.Map

// tellFile returns a transcript and what judging it comes to. It is judged once, for all tests: what is returned must
// not be changed.
func tellFile(t *testing.T, path string) told {
	t.Helper()
	once, _ := judged.LoadOrStore(path, sync.OnceValue(func() told {
		exchanges := parse(t, filepath.Join("testdata", path)).Exchanges
		return told{exchanges, judgeAll(t, rules.All, exchanges)}
	}))
	return once.(func() told)()
}

// judgeFile returns what is found in a transcript, which must not be changed.
func judgeFile(t *testing.T, path string) []analysis.Finding {
	t.Helper()
	return tellFile(t, path).result.Findings
}

func parse(t *testing.T, file string) *transcript.Transcript {
	t.Helper()
	return must.Get(transcript.ReadFile(file))(t)
}

func transcripts(t testing.TB) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS("testdata"), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".txtar") {
			list = append(list, path)
		}
		return err
	})
	must.Do(t, err)
	if len(list) == 0 {
		t.Fatal("no transcripts")
	}
	return list
}

// sample returns one transcript of every oneIn, other ones for each test.
func sample(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, path := range transcripts(t) {
		if randomFor(t.Name()+" "+path).IntN(oneIn) == 0 {
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
