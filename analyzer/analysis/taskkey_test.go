package analysis_test

import (
	"testing"

	"a2atap/analyzer/analysis"
)

// Task keys differ by agent, tenant and id, even if the three concatenate to the same text. A key does not depend on
// the client or on earlier lookups.
func TestTaskKeys(t *testing.T) {
	names := []string{"", "a", "b", "ab", "task"}
	seen := make(map[analysis.TaskKey][3]string)
	x := &analysis.Exchange{}
	for range 2 {
		for _, agent := range names {
			for _, tenant := range names {
				for _, id := range names {
					want, named := analysis.TaskKeyOf(agent, tenant, id), [3]string{agent, tenant, id}
					if other, known := seen[want]; known && other != named {
						t.Fatalf("%q and %q have the same key", named, other)
					}
					seen[want] = named
					x.Agent, x.Tenant = agent, tenant
					for range 2 {
						if got := x.TaskKey(id); got != want {
							t.Fatalf("the key of %q in an exchange is %x, want %x", named, got, want)
						}
					}
				}
			}
		}
	}
}
