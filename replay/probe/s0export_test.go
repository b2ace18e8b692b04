package probe

import "slices"

// S0 returns the scenarios that this file's neighbours declare: those of the oldest conformance suite, in all dialects.
func S0() []*Scenario {
	return slices.Concat(cardScenarios, lifeScenarios, streamScenarios, errorScenarios, pushScenarios)
}
