package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/markup"
	"a2atap/replay/compare"
)

// gitHub writes the report as workflow commands: an error for each cause, at most ten lines, the last of which counts
// the rest; then the verdict, as a notice or, if nothing was proved, as a warning.
func gitHub(w io.Writer, r *Report) error {
	var list []markup.Annotation
	for _, c := range r.causes() {
		text := c.Headline
		if c.Where != "" {
			text += "; " + c.Where + atPlace(c.At)
		}
		if len(c.Changes) > 0 && len(c.Changes[0].Was)+len(c.Changes[0].Now) <= shown/2 {
			text += "; " + changed(c.Changes[0])
		}
		if c.Also != "" {
			text += "; also " + c.Also
		}
		kind, _, _ := strings.Cut(c.Kinds, ",")
		list = append(list, markup.Annotation{Severity: analysis.Error, Title: r.verb() + ": " + kind, Text: text})
	}
	proof := analysis.Note
	if len(r.Differences) == 0 && !r.Same() {
		proof = analysis.Warning
	}
	title := "a2atap " + r.verb()
	_, err := io.WriteString(w, markup.Annotate(list, title, "cause")+
		markup.Annotate([]markup.Annotation{{Severity: proof, Title: title, Text: r.Verdict()}}, "", ""))
	return err
}

// changed writes a change within a line.
func changed(c compare.Change) string {
	return fmt.Sprintf("%s: %s → %s", c.Pointer, cmp.Or(c.Was, "absent"), cmp.Or(c.Now, "absent"))
}
