package clienttest_test

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/injection"
	"a2atap/replay/clienttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// Each world can be played, and each expectation has the required fields. Without a client, expectations are skipped.
func TestWorlds(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, w := range clienttest.Worlds() {
		a, err := refagent.New(w.Agent, w.Options)
		if err != nil {
			t.Fatalf("%s: %v", w.Name, err)
		}
		a.Close()
		if w.Fault != "" {
			if _, err := injection.Parse(w.Name + ":" + w.Fault); err != nil {
				t.Errorf("%s: %v", w.Name, err)
			}
		}
		if w.Title == "" || w.Text == "" || len(w.Expectations) == 0 {
			t.Errorf("%s lacks a title, a text or expectations", w.Name)
		}
		for _, o := range w.Judge(&clienttest.Seen{}) {
			if ids[o.ID] || o.Title == "" || o.Fix == "" || len(o.Sections) == 0 || o.Level.Severity() < analysis.Note {
				t.Errorf("%s is there twice, or lacks something", o.ID)
			}
			ids[o.ID] = true
			if o.Status != probe.Skipped {
				t.Errorf("%s: %s where no client came: %s", o.ID, o.Status, o.Message)
			}
		}
	}
}
