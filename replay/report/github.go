package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/markup"
)

// gitHub writes the report as workflow commands: an error for each cause, at most ten lines, the last of which says how
// many more there are; then the verdict, as a notice or, where nothing was proved, as a warning.
func gitHub(w io.Writer, r *Report) error {
	var b strings.Builder
	causes := r.Causes()
	for i := range causes {
		c := &causes[i]
		if more := len(causes) - i; i == markup.MaxAnnotations-1 && more > 1 {
			markup.Annotate(&b, markup.Error, "a2atap "+r.verb(), fmt.Sprintf("and %s more", analysis.Plural(more, "cause")))
			break
		}
		text := headline(&c.Group)
		if where := r.where(&c.Group); where != "" {
			text += "; " + where + atPlace(at(&c.Group))
		}
		if also := r.following(c); also != "" {
			text += "; also " + also
		}
		markup.Annotate(&b, markup.Error, r.verb()+": "+string(c.Differences[0].Kind), text)
	}
	kind := markup.Notice
	if len(r.Differences) == 0 && !r.Same() {
		kind = markup.Warning
	}
	markup.Annotate(&b, kind, "a2atap "+r.verb(), r.Verdict())
	_, err := io.WriteString(w, b.String())
	return err
}
