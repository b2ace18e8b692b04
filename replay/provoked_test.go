package replay_test

import (
	"path"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
	"a2atap/replay/refagent"
)

// whyNot begins the line in a rule's transcript that explains why none of a2atap's agents and clients breaks the rule
// over a socket. Rules about notifications, which do not pass taps, need no such line.
const whyNot = "Not provoked by an agent or client of ours: "

// Every rule can be broken on purpose, or its transcript explains why not.
func TestEveryRuleIsProvoked(t *testing.T) {
	t.Parallel()
	provoked := make(map[string]bool)
	for _, name := range refagent.Names() {
		for _, f := range refagent.Faults(name) {
			provoked[f.Slug] = true
		}
	}
	for _, p := range client.Protocols() {
		for _, f := range fault.All(p) {
			provoked[f.Slug] = true
		}
	}
	for _, by := range foundBefore01 {
		provoked[by] = true
	}
	reasoned := saysWhyNot(t)
	reasons := 0
	for _, r := range rules.All {
		switch known := reasoned[r.ID]; {
		case provoked[r.ID] && known:
			t.Errorf("%s can be provoked; it needs no reason", r.ID)
		case !provoked[r.ID] && !known && r.Family != "webhook" && r.Family != "delivery":
			t.Errorf("%s (%s, %s): neither a fault nor, in %s.txtar, a line %q", r.ID, r.Family, r.Side, r.ID, whyNot+"…")
		case known:
			reasons++
		}
	}
	if reasons == 0 {
		t.Error("no transcript gives a reason: where are they?")
	}
}

// saysWhyNot returns the rules whose transcripts have that explanation.
func saysWhyNot(t *testing.T) map[string]bool {
	t.Helper()
	said := make(map[string]bool)
	for _, s := range rulestest.Scenarios(t) {
		for line := range strings.Lines(must.Get(s.Parse())(t).Comment) {
			if reason, found := strings.CutPrefix(line, whyNot); found {
				id := path.Base(s.Name)
				said[id] = said[id] || strings.TrimSpace(reason) != ""
			}
		}
	}
	return said
}
