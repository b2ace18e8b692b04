package rule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

// What is added to citations that two rules share is not in those of the other.
func TestCite(t *testing.T) {
	shared := rule.Cite("1", a2a.V0_2, a2a.V0_3).And("2", a2a.V1_0)
	first, second := shared.And("3", a2a.V1_0), shared.And("4", a2a.V1_0)
	want := rule.Citations{{In: a2a.V0_2, Section: "1"}, {In: a2a.V0_3, Section: "1"}, {In: a2a.V1_0, Section: "2"}}
	expect.Same(t, "the shared ones", want, shared)
	for section, got := range map[string]rule.Citations{"3": first, "4": second} {
		if diff := cmp.Diff(append(want[:3:3], a2a.Cite{In: a2a.V1_0, Section: section}), got); diff != "" {
			t.Errorf("with %s, -want +got:\n%s", section, diff)
		}
	}
}
