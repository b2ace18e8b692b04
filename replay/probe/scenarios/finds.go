package scenarios

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// faults is the table of the scenarios that find each fault of a reference agent; a test writes it.
//
//go:embed faults.txt
var faults string

// Finds returns the faults of reference agents that a scenario finds: the scenario fails, or a rule finds the fault
// in its traffic. They are in the order in which agents list them.
func Finds(scenario string) []string { return finds()[scenario] }

var finds = sync.OnceValue(func() map[string][]string {
	byScenario := make(map[string][]string)
	for line := range strings.Lines(faults) {
		fault, names, _ := strings.Cut(line, ": ")
		words := strings.Fields(fault) // agent, fault, severity
		if len(words) != 3 || words[0] == "#" {
			continue
		}
		for _, name := range strings.Fields(names) {
			name = strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], "*")
			if !slices.Contains(byScenario[name], words[1]) {
				byScenario[name] = append(byScenario[name], words[1])
			}
		}
	}
	return byScenario
})
