package replay_test

import (
	"path/filepath"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
	"a2atap/replay/refagent"
)

// whyNot begins the line in which the transcript of a rule says why no agent and no client of ours breaks the rule over a
// socket. Those about notifications, which do not pass taps, need no such line.
const whyNot = "Not provoked by an agent or client of ours: "

// Every rule can be broken on purpose, or its transcript says why not.
func TestEveryRuleIsProvoked(t *testing.T) {
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
	reasons := 0
	for _, r := range rules.All {
		switch known := saysWhyNot(t, r.ID); {
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

func saysWhyNot(t *testing.T, id string) bool {
	t.Helper()
	files := must.Get(filepath.Glob("../analyzer/rules/testdata/*/" + id + ".txtar"))(t)
	for _, file := range files {
		tr := must.Get(transcript.ReadFile(file))(t)
		for line := range strings.Lines(tr.Comment) {
			if reason, found := strings.CutPrefix(line, whyNot); found {
				return strings.TrimSpace(reason) != ""
			}
		}
	}
	return false
}
