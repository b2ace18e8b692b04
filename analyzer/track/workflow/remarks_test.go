package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/expect"
)

// The remarks of a verdict follow from what calls of models and tools were caused by.
func TestRemarks(t *testing.T) {
	loop := func(city string) string {
		story := "1 user>planner send\n"
		for n := 2; n < 26; n += 2 {
			story += fmt.Sprintf("%d planner>llm model\n%d answer asks=weather city=Oslo id=c%d\n", n, n, n)
			story += fmt.Sprintf("%d planner>geo tool name=weather city=%s\n%d answer\n", n+1, strings.ReplaceAll(city, "N", fmt.Sprint(n)), n+1)
		}
		return story + "1 answer task=p\n"
	}
	for _, tt := range []struct{ name, story, want string }{
		{"a loop of a model and a tool", loop("Oslo"), `
			repeated 2 chat m: 12 equal calls during 1, the last one is 24 (planner → llm)
			repeated 3 tools/call weather: 12 equal calls during 1, the last one is 25 (planner → geo)`},
		{"a different city each time", loop("N"), `
			repeated 2 chat m: 12 equal calls during 1, the last one is 24 (planner → llm)`},
		{"a model that cannot be reached", `
			1 user>planner send
			2 planner>llm model
			2 fault
			1 answer task=p`, `
			unreached 2 chat m: the model llm could not be reached, in 1 of 1 call
			hidden 1 SendMessage was completed although 2 chat m, made during it, had failed: unreachable by agent (user → planner)`},
		{"an agent that answers two users: only one of them had a tool fail", `
			1 ann>planner send trace=a/1
			2 bob>planner send trace=b/1
			3 planner>geo tool name=weather city=Oslo trace=b/2
			3 answer failed=yes
			2 answer task=q
			1 answer task=p`, `
			hidden 2 SendMessage was completed although 3 tools/call weather, made during it, had failed: no such city (bob → planner)`},
		{"it is not known for which of them", `
			1 ann>planner send
			2 bob>planner send
			3 planner>geo tool name=weather city=Oslo
			3 answer failed=yes
			2 answer task=q
			1 answer task=p`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := engine.New(nil, workflow.Into(func(workflow.Link) {})...)
			for _, s := range play(t, tt.story) {
				e.Step(s)
			}
			e.End(false)
			var r judgment.Result
			e.Observed(&r)
			var got, want []string
			for _, remark := range r.Remarks {
				got = append(got, string(remark.About)+" "+remark.Text)
			}
			for line := range strings.Lines(tt.want) {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			expect.Same(t, "remarks", want, got)
		})
	}
}
