package report

import (
	"strings"
)

// Parts are parts of the page that HTML writes, as markup without a frame, for a page that is assembled in the browser
// and may grow. Findings and failed calls link to their places, such as #3.response.event[2].
type Parts struct {
	Verdict  string // the verdict, who talked to whom, each agent, and what was not observed
	Findings string // the findings by rule
	Failed   string // what was not seen, and which calls and tasks failed
}

// NewParts writes the parts of a report. They do not hold it.
func NewParts(r *Report) (parts Parts, err error) {
	data := newPageData(r)
	groups := &pageGroups{several: severalWorkflows(r.Result.Findings)}
	for i := range r.Result.Findings {
		f := &r.Result.Findings[i]
		groups.add(f, f.Place.String(), f.Place.String())
	}
	data.Groups, data.Anchors = groups.worstFirst(), true
	for _, one := range []struct {
		name string
		to   *string
	}{{"verdict", &parts.Verdict}, {"findings", &parts.Findings}, {"failed", &parts.Failed}} {
		var b strings.Builder
		if err := page.ExecuteTemplate(&b, one.name, data); err != nil {
			return parts, err
		}
		*one.to = b.String()
	}
	return parts, nil
}
