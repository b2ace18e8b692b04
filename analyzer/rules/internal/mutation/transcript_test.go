package mutation_test

import (
	"slices"

	"a2atap/analyzer/analysis"
)

// loud returns the findings that are more than notes.
func loud(findings []analysis.Finding) []string {
	var list []string
	for i := range findings {
		if findings[i].Severity >= analysis.Warning {
			list = append(list, findings[i].String())
		}
	}
	return slices.Clip(list)
}
