package markup_test

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"a2atap/analyzer/report/markup"
)

// Whatever a text is, it is one text of a page, in which everything can be seen.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<b>", `"'&amp;`, "</pre><script>", "<!--", "\x00\u202e\xff", "]]>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		safe := markup.HTML(s)
		for _, c := range safe {
			if !unicode.IsPrint(c) {
				t.Errorf("%q becomes %q", s, safe)
			}
		}
		root, err := html.Parse(strings.NewReader(`<p id="` + safe + `">` + safe + "</p>"))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			switch {
			case n.Type == html.TextNode && n.Data != markup.Visible(s):
				t.Errorf("%q reads %q", s, n.Data)
			case n.Type == html.ElementNode && n.Data == "p" && (len(n.Attr) != 1 || n.Attr[0].Val != markup.Visible(s)):
				t.Errorf("%q has the attributes %v", s, n.Attr)
			case n.Type == html.CommentNode || n.Type == html.ElementNode && !strings.Contains("html head body p", n.Data):
				t.Errorf("%q makes <%s>", s, n.Data)
			}
		}
	})
}
