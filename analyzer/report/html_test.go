package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
)

func TestHTML(t *testing.T) {
	text := string(golden(t, "calls.html", func(w io.Writer) error { return report.HTML(w, whole(small(t))) }))
	checkPage(t, "calls", text)
	for _, want := range []string{
		"rpc-result-xor-error", "What to change:", "1.0 §", "Who talked to whom", `id="narrow"`, "Not observed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	golden(t, "nothing.html", func(w io.Writer) error { return report.HTML(w, whole(&analyzer.Result{})) })
}

// elements are what a page may be made of. None of them fetches anything.
var elements = strings.Fields("html head meta title style body h1 h2 h3 p b br span code pre div table tbody tr th td ul li " +
	"details summary article input script")

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
