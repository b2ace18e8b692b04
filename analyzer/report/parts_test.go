package report_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"a2atap/analyzer/report"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// The parts say what the page says; findings and failed calls lead to their places.
func TestParts(t *testing.T) {
	r := small(t)
	page := written(t, report.HTML, whole(r))
	parts := must.Get(report.NewParts(whole(r)))(t)
	words := func(text string) string {
		root := must.Get(html.Parse(strings.NewReader(text)))(t)
		var b strings.Builder
		for n := range root.Descendants() {
			if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
				b.WriteString(n.Data)
			}
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	all := words(page)
	for name, part := range map[string]string{"findings": parts.Findings, "failed": parts.Failed} {
		if got := words(part); got == "" || !strings.Contains(all, got) {
			t.Errorf("%s says what the page does not: %s", name, got)
		}
	}
	for _, want := range []string{"Who talked to whom", "Not observed", "Conformance level"} {
		expect.Contains(t, "the verdict", want, words(parts.Verdict))
	}
	for i := range r.Findings {
		place := r.Findings[i].Place.String()
		href := strings.NewReplacer("[", "%5b", "]", "%5d", "#", "%23", "/", "%2f").Replace(place)
		if want := fmt.Sprintf(`<a href="#%s"><code>%s</code></a>`, href, place); !strings.Contains(parts.Findings, want) {
			t.Errorf("there is no %s in\n%s", want, parts.Findings)
		}
	}
}
