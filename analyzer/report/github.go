package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer"
)

// maxGitHub is how many annotations of one kind a step may have.
const maxGitHub = 10

// githubKinds are the names of the severities among workflow commands.
var githubKinds = [...]string{analyzer.Note: "notice", analyzer.Warning: "warning", analyzer.Error: "error"}

// GitHub writes a result as workflow commands: a line a failed test and a finding, at most ten lines of each severity, the last of which
// says how many more there are. Where nothing was proved, that is a warning.
func GitHub(w io.Writer, r *Report) error {
	var b strings.Builder
	found := r.Result.Findings
	var total, said [len(githubKinds)]int
	failed := r.failedTests()
	for _, t := range failed {
		total[t.severity]++
	}
	for i := range found {
		total[found[i].Severity]++
	}
	room := func(s analyzer.Severity) bool {
		said[s]++
		return said[s] < maxGitHub || total[s] == maxGitHub && said[s] == maxGitHub
	}
	for _, t := range failed {
		if room(t.severity) {
			annotate(&b, t.severity, fmt.Sprintf("%s (agent %s)", t.Name, t.agent), t.sentence())
		}
	}
	for i := range found {
		f := &found[i]
		if s := f.Severity; room(s) {
			annotate(&b, s, fmt.Sprintf("%s (%s)", f.Rule.ID, culprit(f)),
				fmt.Sprintf("%s: %s (%s; %s)", f.Capture, f, f.Link, strings.Join(f.Sections(), ", ")))
		}
	}
	for s, n := range total {
		if more := n - maxGitHub + 1; n > maxGitHub {
			annotate(&b, analyzer.Severity(s), "a2atap",
				fmt.Sprintf("and %s more", analyzer.Plural(more, analyzer.Severity(s).String())))
		}
	}
	switch v := r.verdict(); {
	case !v.Status.Proved():
		annotate(&b, analyzer.Warning, "a2atap", r.sentence())
	case r.Tests != nil:
		annotate(&b, analyzer.Note, "a2atap probe", r.sentence())
	case v.Calls.Failed > 0:
		annotate(&b, analyzer.Note, "a2atap calls", v.Calls.String())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func annotate(b *strings.Builder, s analyzer.Severity, title, message string) {
	fmt.Fprintf(b, "::%s title=%s::%s\n", githubKinds[s], githubProperty.Replace(analyzer.Clean(title)),
		githubData.Replace(analyzer.Clean(message)))
}
