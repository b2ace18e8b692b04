package probe

import (
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/client"
)

// The prompt is an example of the skill that fits best: by its tags, then its id and name, then its examples.
func TestExampleFits(t *testing.T) {
	card := &client.Card{Skills: []client.Skill{
		{ID: "silent", Tags: []string{"streaming"}},
		{ID: "form", Name: "Form", Tags: []string{"multi-turn"}, Examples: []string{"fill in the form"}},
		{ID: "weather", Name: "Weather", Tags: []string{"forecast"}, Examples: []string{" ", "rain?", "stream the rain in chunks"}},
		{ID: "long_running", Name: "Report", Examples: []string{"write a report"}},
		{ID: "greeter", Name: "Greeter", Examples: []string{"hi"}},
		{ID: "batch", Name: "Batch", Tags: []string{"Long Running"}, Examples: []string{"crunch"}},
		{ID: "broken", Name: "Always fails", Examples: []string{"break"}},
	}}
	for b, want := range map[Behavior]string{
		Anything: "rain?", CompletesTask: "rain?", MessageOnly: "hi", AsksBack: "fill in the form", FailsTask: "break",
		TakesLong: "crunch", WaitsForCancel: "crunch", StreamsChunks: "stream the rain in chunks",
		ManyParts: "fill in the form", // none fits: the first
	} {
		if got, _ := example(b, card, nil); got != want {
			t.Errorf("%q: sent %q, want %q", b, got, want)
		}
	}
	if got, _ := example(AsksBack, card, []string{"weather", "greeter"}); got != "rain?" {
		t.Errorf("a skill that is not to be used is asked: %q", got)
	}
	expect.Equal(t, "without examples", "hello", Natural.prompt(TakesLong, &client.Card{}, nil))
}
