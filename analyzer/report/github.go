package report

import (
	"fmt"
	"io"
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
// there are: the verdict with a line for each of its statements, and a line for each failed test and each finding.
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

// answers states the verdict, if there is more to say than that all is well. A statement that decides the exit status
// is an error or a warning, any other one a note.
func (r *Report) answers() (lines []annotation) {
	v := r.verdict()
	statements := r.statements()
	name := "a2atap"
	if r.Tests != nil {
		name += " probe"
	}
	switch {
	case !v.Status.Proved():
		lines = append(lines, annotation{v.Exit.Severity(), "a2atap", r.sentence()})
	case r.Tests != nil, len(statements) > 0, v.Status == judgment.StatusWarnings:
		lines = append(lines, annotation{analysis.Note, name, r.sentence()})
	}
	for _, s := range statements {
		lines = append(lines, annotation{s.Exit.Severity(), "a2atap " + string(s.Subject), s.String()})
	}
	return lines
}
