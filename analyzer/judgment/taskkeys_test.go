package judgment

import (
	"testing"

	"a2atap/analyzer/analysis"
)

// A cached key is used only for the same agent and id.
func TestTaskKeys(t *testing.T) {
	var keys taskKeys
	names := []string{"", "a", "b", "ab"}
	for range 2 {
		for _, agent := range names {
			for _, id := range names {
				for range 2 {
					if got, want := keys.of(agent, id), analysis.TaskKeyOf(agent, "", id); got != want {
						t.Fatalf("the key of %q at %q is %x, want %x", id, agent, got, want)
					}
				}
			}
		}
	}
}
