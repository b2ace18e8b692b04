package markup

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain ~ text":            "plain ~ text",
		"a\tb\r\nc\x1b[31m\x00":   "a␉b␍␊c␛[31m␀",
		"\x7f\u0085\u202e\u200b":  `␡\u{85}\u{202e}\u{200b}`,
		"\xff京\xe4":               `\xff京\xe4`,
		"e\u0301":                 "e\u0301",
		"e" + marks(6):            "e" + marks(4) + `\u{301}\u{301}`,
		"\ue000\U000e0041\u2028x": `\u{e000}\u{e0041}\u{2028}x`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func marks(n int) string { return strings.Repeat("\u0301", n) }

// Whatever a text is, it is one text of a page, in which everything can be seen.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<b>", `"'&amp;`, "</pre><script>", "<!--", "\x00\u202e\xff", "]]>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		safe := HTML(s)
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
			case n.Type == html.TextNode && n.Data != Visible(s):
				t.Errorf("%q reads %q", s, n.Data)
			case n.Type == html.ElementNode && n.Data == "p" && (len(n.Attr) != 1 || n.Attr[0].Val != Visible(s)):
				t.Errorf("%q has the attributes %v", s, n.Attr)
			case n.Type == html.CommentNode || n.Type == html.ElementNode && !strings.Contains("html head body p", n.Data):
				t.Errorf("%q makes <%s>", s, n.Data)
			}
		}
	})
}
