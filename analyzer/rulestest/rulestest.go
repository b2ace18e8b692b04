// Package rulestest gives tests the transcripts of the rules, and the findings of the rules in exchanges.
package rulestest

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// testdata has the transcripts. It is found when the program begins, since tests change the working directory.
var testdata = func() string {
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "analyzer", "rules", "testdata")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}()

var scenarios = sync.OnceValues(func() ([]transcript.Scenario, error) { return transcript.ReadDir(testdata) })

// Scenarios returns the scenarios of all transcripts, or of those in some families.
func Scenarios(t testing.TB, families ...string) []transcript.Scenario {
	t.Helper()
	var list []transcript.Scenario
	for _, s := range must.Get(scenarios())(t) {
		if family, _, _ := strings.Cut(s.Name, "/"); len(families) == 0 || slices.Contains(families, family) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		t.Fatalf("there are no transcripts %v", families)
	}
	return list
}

// Names returns the names of scenarios.
func Names(t testing.TB, families ...string) []string {
	t.Helper()
	var list []string
	for _, s := range Scenarios(t, families...) {
		list = append(list, s.Name)
	}
	return list
}

// Parse reads the scenario of a name.
func Parse(t testing.TB, name string) *transcript.Transcript {
	t.Helper()
	for _, s := range must.Get(scenarios())(t) {
		if s.Name == name {
			return must.Get(s.Parse())(t)
		}
	}
	t.Fatalf("there is no scenario %s", name)
	return nil
}

// Exchanges reads the exchanges of the scenario of a name.
func Exchanges(t testing.TB, name string) []*capture.Exchange {
	t.Helper()
	return Parse(t, name).Exchanges
}

// Source returns a capture of exchanges.
func Source(t testing.TB, exchanges []*capture.Exchange) *capture.Memory {
	t.Helper()
	return must.Get(capture.ReadMemory(capture.Info{}, capture.Each(exchanges...)))(t)
}

// Check returns the findings of some rules in exchanges.
func Check(t testing.TB, list []*analysis.Rule, exchanges []*capture.Exchange) *judgment.Result {
	t.Helper()
	return must.Get(engine.Run(context.Background(), list, Source(t, exchanges), nil))(t)
}

// Findings returns the findings of all rules in exchanges.
func Findings(t testing.TB, exchanges []*capture.Exchange) []analysis.Finding {
	t.Helper()
	return Check(t, rules.All, exchanges).Findings
}

// checked has the results of Checked, by name.
var checked sync.Map

// Checked returns the findings of all rules in the scenario with a name. The result is shared by all tests of a
// program, so callers must not change it.
func Checked(t testing.TB, name string) *judgment.Result {
	t.Helper()
	once, _ := checked.LoadOrStore(name, sync.OnceValue(func() *judgment.Result {
		return Check(t, rules.All, Exchanges(t, name))
	}))
	return once.(func() *judgment.Result)()
}

// FindingsIn returns the findings of Checked.
func FindingsIn(t testing.TB, name string) []analysis.Finding {
	t.Helper()
	return Checked(t, name).Findings
}

// Random returns a source of random numbers for a name, so that the numbers for different names are independent.
func Random(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name)) //nolint:errcheck // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}
