package exchanges

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// open returns a capture of the exchanges of a transcript, with what the rules find in it.
func open(t testing.TB, name string, text []byte) (Capture, []analysis.Finding) {
	t.Helper()
	tr := must.Get(transcript.Parse(name, text))(t)
	m := must.Get(capture.ReadMemory(capture.Info{Name: name}, capture.Each(tr.Exchanges...)))(t)
	links := &workflow.Index{}
	result := must.Get(engine.Run(t.Context(), rules.All, m, nil, workflow.Into(links.Put)...))(t)
	return Capture{
		Name: name, Source: m, Reader: &reading.Reader{}, Links: links, Findings: len(result.Findings),
	}, result.Findings
}

// write returns the section of captures as it is written.
func write(t testing.TB, s *Section) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, s.Write(&b))
	return b.String()
}

// elements are what a section may be made of, with their attributes.
var elements = map[string]string{
	"html": "", "head": "", "body": "", "h2": "id", "h3": "", "h4": "", "p": "class", "b": "class", "span": "class id",
	"pre": "class", "mark": "", "a": "href", "details": "class id open", "summary": "", "section": "id", "div": "class",
	"svg": "class role aria-label width height viewbox", "text": "class x y", "tspan": "class dx",
	"line": "class x1 x2 y1 y2", "path": "class d",
}

// check fails unless a section consists of what sections are made of, and each link in it leads to one element. It
// returns how often there is each id.
func check(t testing.TB, text string) map[string]int {
	t.Helper()
	for _, c := range text {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Fatalf("there is %U", c)
		}
	}
	root := must.Get(html.Parse(strings.NewReader(text)))(t)
	ids, links := make(map[string]int), make(map[string]bool)
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("there is the comment %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		allowed, known := elements[n.Data]
		if !known {
			t.Errorf("there is <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(strings.Fields(allowed), strings.ToLower(a.Key)) {
				t.Errorf("there is <%s %s=%q>", n.Data, a.Key, a.Val)
			}
			switch a.Key {
			case "id":
				ids[a.Val]++
			case "href":
				to, inside := strings.CutPrefix(a.Val, "#")
				if !inside {
					t.Errorf("a link leads to %q", a.Val)
				}
				links[to] = true
			}
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements have the id %q", n, id)
		}
	}
	for to := range links {
		if ids[to] == 0 && rules.ByID(to) == nil {
			t.Errorf("a link leads to %q, which is not there", to)
		}
	}
	return ids
}

// Each finding in any transcript of the rules is on the page once, and has a link to it.
func TestFindingsStandWhereTheyWereFound(t *testing.T) {
	total := 0
	for i, scenario := range rulestest.Scenarios(t) {
		if i%7 != 0 {
			continue // one in seven has them all, in a second
		}
		c, findings := open(t, filepath.Base(scenario.Name), scenario.Text)
		s := must.Get(Read(t.Context(), []Capture{c}, findings))(t)
		ids := check(t, write(t, s))
		for i := range findings {
			total++
			if at := s.Anchor(i); at != fmt.Sprintf("f%d", i+1) || ids[at] != 1 {
				t.Errorf("%s: %s is at %q, %d times", &scenario, &findings[i], at, ids[at])
			}
		}
		if t.Failed() {
			t.Fatalf("in %s", &scenario)
		}
	}
	if total < 100 {
		t.Errorf("there were %d findings", total)
	}
}
