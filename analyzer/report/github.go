package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/markup"
)

// GitHub writes a result as workflow commands, at most ten lines of each severity, the last of which counts the rest:
// the verdict with a line for each of its statements, and a line for each failed test and each finding.
func GitHub(w io.Writer, r *Report) error {
	lines := r.answers()
	for i := range r.Tests {
		for _, t := range worstFirst(r.Tests[i].Tests) {
			if t.Waived == "" {
				title := fmt.Sprintf("%s (agent %s)", t.Name, r.Tests[i].Agent)
				lines = append(lines, markup.Annotation{Severity: t.severity(), Title: title, Text: t.sentence()})
			}
		}
	}
	for i := range r.Result.Findings {
		f, more := &r.Result.Findings[i], ""
		if f.Times > 1 {
			more = fmt.Sprintf(", %d times", f.Times)
		}
		lines = append(lines, markup.Annotation{
			Severity: f.Severity, Title: fmt.Sprintf("%s (%s)", f.Rule.ID, culprit(f)),
			Text: fmt.Sprintf("%s: %s (%s; %s)%s", f.Capture, f, f.Link, strings.Join(f.Sections(), ", "), more),
		})
	}
	_, err := io.WriteString(w, markup.Annotate(lines, "a2atap", ""))
	return err
}

// answers states the verdict, if there is more to say than that all is well. A statement that decides the exit status
// is an error or a warning, any other one a note.
func (r *Report) answers() (lines []markup.Annotation) {
	v := r.verdict()
	statements := r.statements()
	name := "a2atap"
	if r.Tests != nil {
		name += " probe"
	}
	switch {
	case !v.Status.Proved():
		lines = append(lines, markup.Annotation{Severity: v.Exit.Severity(), Title: "a2atap", Text: r.sentence()})
	case r.Tests != nil, len(statements) > 0, v.Status == judgment.StatusWarnings:
		lines = append(lines, markup.Annotation{Severity: analysis.Note, Title: name, Text: r.sentence()})
	}
	for _, s := range statements {
		lines = append(lines, markup.Annotation{
			Severity: s.Exit.Severity(), Title: "a2atap " + string(s.Subject), Text: s.String(),
		})
	}
	return lines
}
