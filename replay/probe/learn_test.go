package probe_test

import (
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// If the agent's card has no useful examples, texts from a recording are sent again, and trigger behaviors that are
// otherwise not seen.
func TestLearn(t *testing.T) {
	t.Parallel()
	options := refagent.Options{StepTime: 5 * time.Millisecond, CancelWait: 3 * time.Second}
	url := agenttest.Start(t, "spec", options)
	kept := capture.NewMemory(capture.Info{})
	ask(t, url, probe.Options{Sink: kept, Name: "booker"})
	learned := must.Get(probe.Learn(t.Context(), kept, "booker", "http://elsewhere.example"))(t)
	for _, b := range []probe.Behavior{
		probe.MessageOnly, probe.CompletesTask, probe.FailsTask, probe.WaitsForCancel, probe.AsksBack, probe.StreamsChunks,
	} {
		if learned.Prompts[b] == "" {
			t.Errorf("nothing was learned of %s", b)
		}
	}
	if !strings.HasPrefix(learned.Prompts[probe.AsksBack], "multi-turn") {
		t.Errorf("asks back: %q", learned.Prompts[probe.AsksBack])
	}

	dumb := agenttest.Start(t, "spec", options, agenttest.OnCard(func(card map[string]any) { card["skills"] = []any{} }))
	for _, about := range []probe.Options{{}, {Learned: learned.Prompts}} {
		passed := 0
		for _, r := range ask(t, dumb, about).Results {
			switch {
			case r.Bad() && r.Scenario.ID != "card-skills":
				t.Errorf("%s: %s", r.Name, r.Message)
			case r.Status == probe.Pass && (r.Scenario.ID == "task-cancel" || r.Scenario.ID == "multi-turn"):
				passed++
			}
		}
		if want := 4; about.Learned != nil && passed != want || about.Learned == nil && passed > 0 {
			t.Errorf("learned %v: %d passed", about.Learned, passed)
		}
	}

	two := capture.NewMemory(capture.Info{})
	for _, name := range []string{"a", "b"} {
		last := uint64(0)
		for x, err := range two.Exchanges(t.Context(), 1) {
			must.Do(t, err)
			last = x.Seq
		}
		ask(t, url, probe.Options{Sink: two, Seq: last, Name: name})
	}
	expect.ErrorHas(t, "one of several agents",
		"(a, b)", expect.Err(probe.Learn(t.Context(), two, "c", "http://elsewhere.example")))
}
