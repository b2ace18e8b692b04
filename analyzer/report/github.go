package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/markup"
)

// githubKinds are the names of the severities among workflow commands.
var githubKinds = [...]markup.AnnotationKind{
	analyzer.Note: markup.Notice, analyzer.Warning: markup.Warning, analyzer.Error: markup.Error,
}

// GitHub writes a result as workflow commands: a line a failed test and a finding, at most ten lines of each severity, the last of which
// says how many more there are. How the calls came out, and what was not seen, is a notice; an error where the link is
// failing, and a warning where nothing was proved.
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
		return said[s] < markup.MaxAnnotations || total[s] == markup.MaxAnnotations && said[s] == markup.MaxAnnotations
	}
	for _, t := range failed {
		if room(t.severity) {
			markup.Annotate(&b, githubKinds[t.severity], fmt.Sprintf("%s (agent %s)", t.Name, t.agent), t.sentence())
		}
	}
	for i := range found {
		f := &found[i]
		if s := f.Severity; room(s) {
			markup.Annotate(&b, githubKinds[s], fmt.Sprintf("%s (%s)", f.Rule.ID, culprit(f)),
				fmt.Sprintf("%s: %s (%s; %s)", f.Capture, f, f.Link, strings.Join(f.Sections(), ", ")))
		}
	}
	for s, n := range total {
		if more := n - markup.MaxAnnotations + 1; n > markup.MaxAnnotations {
			markup.Annotate(&b, githubKinds[s], "a2atap",
				fmt.Sprintf("and %s more", analyzer.Plural(more, analyzer.Severity(s).String())))
		}
	}
	switch v := r.verdict(); {
	case !v.Status.Proved():
		markup.Annotate(&b, markup.Warning, "a2atap", r.sentence())
	case r.Tests != nil:
		markup.Annotate(&b, markup.Notice, "a2atap probe", r.sentence())
	default:
		r.githubAnswers(&b, v)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// githubAnswers says how the calls came out, and what was not seen; nothing if all is well.
func (r *Report) githubAnswers(b *strings.Builder, v judgment.Verdict) {
	kind := markup.Notice
	if v.Status == judgment.StatusFailing {
		kind = markup.Error
	}
	failed := slices.Concat(v.Failed, v.Tasks)
	if len(failed) > 0 || v.Calls.Failed+v.Calls.Refused+v.Calls.TasksFailed > 0 {
		markup.Annotate(b, kind, "a2atap calls", v.Calls.String())
	}
	for i := range failed[:min(len(failed), markup.MaxAnnotations-1)] {
		markup.Annotate(b, kind, "a2atap calls", failed[i].Capture+": "+failed[i].String())
	}
	if seen := v.Seen(); seen != "" {
		markup.Annotate(b, markup.Notice, "a2atap", seen)
	}
}
