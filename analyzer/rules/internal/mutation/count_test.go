package mutation_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
)

// checkMutations makes sure that the lists are what they are said to be.
func checkMutations(t *testing.T, all []mutation) {
	t.Helper()
	names := make(map[string]bool)
	bad, good := 0, 0
	for _, m := range all {
		if names[m.name] {
			t.Errorf("there are two mutations %q", m.name)
		}
		names[m.name] = true
		if len(m.rules) > 0 {
			bad++
		} else {
			good++
		}
		for _, id := range slices.Concat(m.rules, m.also) {
			if rules.ByID(id) == nil {
				t.Errorf("%s: there is no rule %s", m.name, id)
			}
		}
	}
	if good += len(variations); bad < 150 || good < 80 {
		t.Errorf("%d violations and %d variations; want 150 and 80", bad, good)
	}
}

// report counts where each mutation was planted.
func report(t *testing.T, all []mutation, counted [][]int) {
	t.Helper()
	total := 0
	for i, m := range all {
		var b strings.Builder
		for k, n := range counted[i] {
			if n > 0 {
				total += n
				fmt.Fprintf(&b, "  %s: %d", speeches[k].name, n)
			}
		}
		t.Logf("%-60s %s%s", m.name, cmp.Or(strings.Join(m.rules, " or "), "nothing"), b.String())
	}
	t.Logf("%d mutations, planted %d times", len(all), total)
}
