package minimize

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture/transcript"
)

// Transcript returns the result as a transcript. Its comment explains the finding and how to reproduce it with the
// given file; its section want has all findings.
func (r *Result) Transcript(file string) *transcript.Transcript {
	f := &r.Finding
	lines := []string{
		fmt.Sprintf("%s, broken by the %s", f.Rule.ID, f.Side),
		"",
		f.String(),
		"expected: " + analysis.Clean(f.Wanted()) + " (" + strings.Join(f.Sections(), ", ") + ")",
		"",
		"a2atap check " + file,
		"a2atap rules " + f.Rule.ID,
	}
	t := &transcript.Transcript{
		Comment: strings.Join(lines, "\n") + "\n", Exchanges: r.Exchanges, HasWant: true,
	}
	for i := range r.Findings {
		t.Want += r.Findings[i].String() + "\n"
	}
	return t
}
