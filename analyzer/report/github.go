package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/markup"
)

// githubKinds are the names of the severities among workflow commands.
var githubKinds = [...]markup.AnnotationKind{
	analysis.Note: markup.Notice, analysis.Warning: markup.Warning, analysis.Error: markup.Error,
}

// GitHub writes a result as workflow commands, at most ten lines of each severity, the last of which says how many more
// there are: what was not seen, how the calls and tasks came out, those that failed, and a line a failed test and a
// finding. Failed calls and tasks are notes, and errors where a link is failing. Where nothing was proved, that is a
// warning.
func GitHub(w io.Writer, r *Report) error {
	lines := r.answers()
	for i := range r.Tests {
		for _, t := range worstFirst(&r.Tests[i]) {
			if t.Waived == "" {
				title := fmt.Sprintf("%s (agent %s)", t.Name, r.Tests[i].Agent)
				lines = append(lines, annotation{t.severity(), title, t.sentence()})
			}
		}
	}
	for i := range r.Result.Findings {
		f := &r.Result.Findings[i]
		lines = append(lines, annotation{
			f.Severity, fmt.Sprintf("%s (%s)", f.Rule.ID, culprit(f)),
			fmt.Sprintf("%s: %s (%s; %s)", f.Capture, f, f.Link, strings.Join(f.Sections(), ", ")),
		})
	}
	var b strings.Builder
	var total, said [len(githubKinds)]int
	for _, l := range lines {
		total[l.severity]++
	}
	for _, l := range lines {
		s := l.severity
		if said[s]++; said[s] < markup.MaxAnnotations || said[s] == markup.MaxAnnotations && total[s] == said[s] {
			markup.Annotate(&b, githubKinds[s], l.title, l.text)
		}
	}
	for s, n := range total {
		if more := n - markup.MaxAnnotations + 1; n > markup.MaxAnnotations {
			markup.Annotate(&b, githubKinds[s], "a2atap",
				fmt.Sprintf("and %s more", analysis.Plural(more, analysis.Severity(s).String())))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// An annotation is a line of a workflow's log.
type annotation struct {
	severity    analysis.Severity
	title, text string
}

// answers says what was not seen, and how the calls and tasks came out; nothing if all is well. Of an agent that was
// asked actively, where some calls are to fail, it says how that came out.
func (r *Report) answers() (lines []annotation) {
	v := r.verdict()
	switch {
	case !v.Status.Proved():
		lines = append(lines, annotation{analysis.Warning, "a2atap", r.sentence()})
	case r.Tests != nil:
		lines = append(lines, annotation{analysis.Note, "a2atap probe", r.sentence()})
	case v.Seen() != "":
		lines = append(lines, annotation{analysis.Note, "a2atap", v.Seen()})
	}
	if r.Tests != nil || v.Calls.Failed+v.Calls.Refused+v.Calls.TasksFailed == 0 {
		return lines
	}
	severity := analysis.Note
	if v.Status == judgment.StatusFailing {
		severity = analysis.Error
	}
	lines = append(lines, annotation{severity, "a2atap calls", v.Calls.String()})
	for _, f := range slices.Concat(v.Failed, v.Tasks) {
		text := f.String()
		if in := r.captureOf(f.Capture); in != "" {
			text = in + ": " + text
		}
		lines = append(lines, annotation{severity, "a2atap calls", text})
	}
	return lines
}

// captureOf returns the capture of failed calls, which do not say it where there is one.
func (r *Report) captureOf(name string) string {
	if name == "" && len(r.Result.Captures) == 1 {
		return r.Result.Captures[0]
	}
	return name
}
