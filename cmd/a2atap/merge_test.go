package main

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/merge"
	"a2atap/proxy/must"
)

// TestMergedTranscripts cuts the transcripts of the rules in two, as if each link had a recorder of its own, and merges
// them: what is found is the same as in one capture.
func TestMergedTranscripts(t *testing.T) {
	t.Parallel()
	several := 0
	for _, s := range rulestest.Scenarios(t) {
		whole := must.Get(s.Parse())(t).Exchanges
		var agents []string
		for _, x := range whole {
			if !slices.Contains(agents, x.Agent.Name) {
				agents = append(agents, x.Agent.Name)
			}
		}
		if len(agents) < 2 {
			continue
		}
		several++
		var halves [2][]*capture.Exchange
		for _, x := range whole {
			half := slices.Index(agents, x.Agent.Name) % 2
			halves[half] = append(halves[half], x)
		}
		merged := capture.NewMemory(capture.Info{})
		m := merge.New(merged, merge.Options{})
		for i, half := range halves {
			m.Add(merge.Recording{Host: string(rune('a' + i)), Name: "half", Source: memoryOf(t, half)})
		}
		must.Do(t, errors.Join(m.Run(t.Context()), merged.Close()))
		want := foundIn(t, memoryOf(t, whole))
		if got := foundIn(t, merged); !cmp.Equal(want, got) {
			t.Errorf("%s: merged says otherwise (-whole +merged):\n%s", &s, cmp.Diff(want, got))
		}
	}
	if several < 10 {
		t.Errorf("%d transcripts have several links, want more", several)
	}
}

// memoryOf is a capture of these exchanges, with numbers of its own.
func memoryOf(t *testing.T, list []*capture.Exchange) *capture.Memory {
	t.Helper()
	memory, err := capture.ReadMemory(capture.Info{ID: uuid.New()}, func(yield func(*capture.Exchange, error) bool) {
		for i, x := range list {
			x = x.Copy()
			x.Seq = uint64(i + 1)
			if !yield(x, nil) {
				return
			}
		}
	})
	must.Do(t, err)
	return memory
}

// numbers are those of exchanges, which may be others where two began at the same time.
var numbers = regexp.MustCompile(`exchange [0-9]+`)

// foundIn returns what the rules find in a capture, without its places.
func foundIn(t *testing.T, src capture.Source) []string {
	t.Helper()
	var found []string
	_, err := engine.Run(t.Context(), rules.All, src, func(f analysis.Finding) {
		found = append(found, f.Rule.ID+": "+numbers.ReplaceAllString(f.Message(), "exchange N"))
	})
	must.Do(t, err)
	slices.Sort(found)
	return found
}
