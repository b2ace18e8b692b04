package replay_test

import (
	"slices"
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/replay/client"
	"a2atap/replay/refagent"
)

// unprovoked are the rules that no agent and no client of ours breaks over a socket, each with the reason. Transcripts prove
// them all the same.
var unprovoked = map[string]string{}

// Every rule can be broken on purpose, or it is said why not.
func TestEveryRuleIsProvoked(t *testing.T) {
	provoked := make(map[string]bool)
	for _, name := range refagent.Names() {
		for _, f := range refagent.Faults(name) {
			provoked[f.Slug] = true
		}
	}
	for _, p := range client.Protocols() {
		for _, f := range client.Faults(p) {
			provoked[f.Slug] = true
		}
	}
	for _, r := range rules.All {
		switch reason, known := unprovoked[r.ID]; {
		case provoked[r.ID] && known:
			t.Errorf("%s can be provoked; it needs no reason", r.ID)
		case !provoked[r.ID] && !known && r.On&analyzer.WebhookSeen == 0:
			t.Errorf("%s (%s, %s): neither a fault nor a reason why there is none", r.ID, r.Family, r.Side)
		case known && reason == "":
			t.Errorf("%s: no reason", r.ID)
		}
	}
	for id := range unprovoked {
		if !slices.ContainsFunc(rules.All, func(r *analyzer.Rule) bool { return r.ID == id }) {
			t.Errorf("there is no rule %s", id)
		}
	}
}
