package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/report"
	"a2atap/analyzer/report/exchanges"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/must"
)

func TestHTML(t *testing.T) {
	text := golden(t, "calls.html", func(w io.Writer) error { return report.HTML(w, whole(small(t))) })
	checkPage(t, "calls", text)
	for _, want := range []string{
		"rpc-result-xor-error", "What to change:", "1.0 §", "Who talked to whom", `id="narrow"`, "Not observed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if findings, table := strings.Index(text, "<article"), strings.Index(text, "<table"); findings < 0 || table < findings {
		t.Errorf("the first finding is at %d, the first table at %d", findings, table)
	}
	golden(t, "traffic.html", func(w io.Writer) error { return report.HTML(w, withTraffic(t, small(t))) })
	golden(t, "nothing.html", func(w io.Writer) error { return report.HTML(w, whole(&judgment.Result{})) })
}

// withTraffic returns a report on testdata/calls.txtar with its exchanges.
func withTraffic(t *testing.T, r *judgment.Result) *report.Report {
	t.Helper()
	src, links := calls(t), &workflow.Index{}
	must.Get(engine.Run(t.Context(), nil, src, nil, workflow.Into(links.Put)...))(t)
	section, err := exchanges.Read(t.Context(), []exchanges.Capture{{
		Name: "calls.txtar", Source: src, Reader: &reading.Reader{}, Links: links, Findings: len(r.Findings),
	}}, r.Findings)
	must.Do(t, err)
	whole := whole(r)
	whole.Traffic = section
	return whole
}

// A finding links to its place among the exchanges; if the page has no exchanges, the place is only named.
func TestHTMLWithTraffic(t *testing.T) {
	var with, without strings.Builder
	r := small(t)
	must.Do(t, report.HTML(&with, withTraffic(t, r)))
	must.Do(t, report.HTML(&without, whole(small(t))))
	checkPage(t, "traffic", with.String())
	for i := range r.Findings {
		link := fmt.Sprintf(`<a href="#f%d"><code>%s</code></a>`, i+1, &r.Findings[i].Place)
		if !strings.Contains(with.String(), link) || !strings.Contains(with.String(), fmt.Sprintf(` id="f%d"`, i+1)) {
			t.Errorf("the page with exchanges has no %s, or not where it leads", link)
		}
		if strings.Contains(without.String(), link) {
			t.Errorf("the page without exchanges has %s", link)
		}
	}
	if err := report.HTML(full{}, withTraffic(t, r)); err == nil {
		t.Error("no error from a writer that fails")
	}
}

// elements are what a page may be made of. None of them fetches anything.
var elements = strings.Fields("html head meta title style body h1 h2 h3 h4 p b br span code pre div table tbody tr th td ul " +
	"li details summary article input script label nav section a mark svg text tspan line path")

// checkPage fails unless a page consists of what pages are made of, whatever is in its texts, and its policy lets in its
// own script alone.
func checkPage(t *testing.T, name, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatalf("page of %q: %v", name, err)
	}
	policy, scripts := "", []string{}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("page of %q has a comment", name)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(elements, n.Data) {
			t.Errorf("page of %q has <%s>", name, n.Data)
		}
		for _, a := range n.Attr {
			if inside := n.Data == "a" && a.Key == "href" && strings.HasPrefix(a.Val, "#"); inside {
				continue
			}
			if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"src", "href", "srcdoc", "action", "style"}, a.Key) {
				t.Errorf("page of %q has <%s %s=%q>", name, n.Data, a.Key, a.Val)
			}
			if a.Key == "content" && strings.Contains(a.Val, "default-src") {
				policy = a.Val
			}
		}
		if n.Data == "script" {
			scripts = append(scripts, n.FirstChild.Data)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "script-src 'unsafe") {
		t.Errorf("page of %q has the policy %q", name, policy)
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("page of %q has the policy %q", name, policy)
	}
	for _, script := range scripts {
		sum := sha256.Sum256([]byte(script))
		if !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("page of %q has a script that its policy does not let in: %s", name, script)
		}
	}
	if len(scripts) > 1 {
		t.Errorf("page of %q has %d scripts", name, len(scripts))
	}
}
