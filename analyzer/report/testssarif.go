package report

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"a2atap/analyzer/analysis"
)

// addTests adds the failed tests as results, each with a separate rule. Waived tests are suppressed.
func (run *sarifRun) addTests(r *Report) {
	index := make(map[string]int)
	for i := range r.Tests {
		s := &r.Tests[i]
		for _, t := range worstFirst(s.Tests) {
			if len(run.Results) == maxSARIF {
				return
			}
			at, ok := index[t.Name]
			if !ok {
				at = len(run.Tool.Driver.Rules)
				index[t.Name] = at
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
					ID: t.Name, Short: sarifText{t.Title}, Full: sarifText{t.Title}, Help: sarifText{oneLine(t.Fix)},
					Default: sarifDefault{t.Severity.String()}, Property: sarifProperties{"tags": []string{"probe", string(t.Category)}},
				})
			}
			run.Results = append(run.Results, sarifTest(s, t, at))
		}
	}
}

func sarifTest(s *Suite, t *Test, index int) sarifResult {
	sum := sha256.Sum256([]byte(strings.Join([]string{"probe", s.Agent, t.Name}, "\x00")))
	out := sarifResult{
		RuleID: t.Name, RuleIndex: index, Level: t.severity().String(),
		Message: sarifText{t.sentence()},
		Locations: []sarifLocation{{
			Physical: sarifPhysical{sarifArtifact{analysis.Clean(s.URL)}},
			Logical:  []sarifLogical{{Name: analysis.Clean(t.Name), Kind: "member"}},
		}},
		Fingerprints: map[string]string{"a2atap/v1": hex.EncodeToString(sum[:16])},
		Properties:   sarifProperties{"agent": analysis.Clean(s.Agent), "status": string(t.Status)},
	}
	if t.Waived != "" {
		out.Suppressions = []sarifSuppression{{Kind: "external", Justification: analysis.Clean(oneLine(t.Waived))}}
	}
	return out
}
