package rule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/rule"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

func TestFamilyFillsIn(t *testing.T) {
	family := rule.Family{
		Name: "chunk", Side: a2a.Agent, Once: analysis.PerExchange, Either: true, If: analysis.OfStream,
		Needs:    []*analysis.Tracker{card.Tracker},
		Category: analysis.Streaming, On: analysis.EventSeen, Bindings: rule.OnCall, Cites: rule.Cite("7.2.3", a2a.V0_3),
	}
	own := analysis.Rule{
		ID: "own", Category: analysis.Interop, On: analysis.TaskSeen, Bindings: rule.OnRPC, Cites: rule.Cite("1", a2a.V1_0),
		If: analysis.Refused, Needs: []*analysis.Tracker{task.Tracker},
	}
	plain := analysis.Rule{ID: "plain"}
	want := []*analysis.Rule{
		{
			ID: "own", Family: "chunk", Side: a2a.Agent, Once: analysis.PerExchange, Either: true,
			If: analysis.OfStream | analysis.Refused, Needs: []*analysis.Tracker{card.Tracker, task.Tracker},
			Category: analysis.Interop, On: analysis.TaskSeen, Bindings: rule.OnRPC, Cites: rule.Cite("1", a2a.V1_0),
		},
		{
			ID: "plain", Family: "chunk", Side: a2a.Agent, Once: analysis.PerExchange, Either: true,
			If: analysis.OfStream, Needs: []*analysis.Tracker{card.Tracker},
			Category: analysis.Streaming, On: analysis.EventSeen, Bindings: rule.OnCall, Cites: rule.Cite("7.2.3", a2a.V0_3),
		},
	}
	expect.Same(t, "rules of the family", want, family.Of(&own, &plain),
		cmp.Comparer(func(a, b *analysis.Tracker) bool { return a == b }))
}

// A family that leaves the side and the scope to its rules takes neither from them.
func TestFamilyLeavesToRules(t *testing.T) {
	r := analysis.Rule{ID: "one", Side: a2a.Receiver, Once: analysis.PerOrigin}
	rule.Family{Name: "webhook"}.Of(&r)
	if r.Side != a2a.Receiver || r.Once != analysis.PerOrigin {
		t.Errorf("the rule now has the side %s and the scope %d", r.Side, r.Once)
	}
}

func TestFamilyRefuses(t *testing.T) {
	for name, of := range map[string]func(){
		"a rule of another family": func() { rule.Family{Name: "b"}.Of(&analysis.Rule{ID: "r", Family: "a"}) },
		"a rule with its own side": func() {
			rule.Family{Name: "b", Side: a2a.Agent}.Of(&analysis.Rule{ID: "r", Side: a2a.Receiver})
		},
		"a rule with its own scope": func() {
			rule.Family{Name: "b", Once: analysis.PerOrigin}.Of(&analysis.Rule{ID: "r", Once: analysis.PerExchange})
		},
		"a rule that stands twice": func() { r := &analysis.Rule{ID: "r"}; rule.Family{Name: "b"}.Of(r, r) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it is taken")
				}
			}()
			of()
		})
	}
}
