package find_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/find"
)

// found returns what a pattern finds in a line, each match in brackets.
func found(t *testing.T, pattern, line string, in func(*find.Pattern, string) []find.Range) string {
	t.Helper()
	p := must.Get(find.Parse(pattern))(t)
	var b strings.Builder
	done := 0
	for _, r := range in(p, line) {
		b.WriteString(line[done:r.From] + "[" + line[r.From:r.To] + "]")
		done = r.To
	}
	return b.String() + line[done:]
}

func TestIn(t *testing.T) {
	for _, c := range []struct{ name, pattern, line, want string }{
		{"lower case finds any case", "kyoto", "Kyoto, KYOTO and kyoto", "[Kyoto], [KYOTO] and [kyoto]"},
		{"an upper-case letter finds itself", "Kyoto", "Kyoto, KYOTO and kyoto", "[Kyoto], KYOTO and kyoto"},
		{"a text means itself", "a.b(", "a.b( axb(", "[a.b(] axb("},
		{"letters beyond ASCII", "ü", "Küche und KÜCHE", "K[ü]che und K[Ü]CHE"},
		{"no match", "x", "abc", "abc"},
		{"a path is a text", "/a2a", "POST /a2a HTTP/1.1", "POST [/a2a] HTTP/1.1"},
		{"a slash alone", "/", "a/b", "a[/]b"},
		{"two slashes", "//", "http://x", "http:[//]x"},
		{"an expression", `/t-\d+/`, "T-12 and t-x", "[T-12] and t-x"},
		{"an expression with an upper-case letter", `/T-\d+/`, "T-12 and t-12", "[T-12] and t-12"},
		{"an escape in upper case is no letter", `/k\S+/`, "Kyoto k", "[Kyoto] k"},
		{"nor is a class", `/\p{Lu}k\x{4F}\pL/`, "akon", "[akon]"},
		{"an expression that matches nothing", "/x*/", "abc", "abc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, "", c.want, found(t, c.pattern, c.line, (*find.Pattern).In))
		})
	}
}

func TestInJSON(t *testing.T) {
	for _, c := range []struct{ name, pattern, line, want string }{
		{"without escapes", "kyoto", `"city": "Kyoto"`, `"city": "[Kyoto]"`},
		{"a letter that was sent as an escape", "küche", `"K\u00fcche"`, `"[K\u00fcche]"`},
		{"a character of two units", "🍣", `"\uD83C\uDF63!"`, `"[\uD83C\uDF63]!"`},
		{"half a character", "!", `"\uD83C!"`, `"\uD83C[!]"`},
		{"quotes and slashes", `"/`, `"a \"\/"`, `"a [\"\/]"`},
		{"what was sent", `\u00fc`, `"K\u00fcche"`, `"K[\u00fc]che"`},
		{"both readings of a place are one match", `\`, `"a\\b"`, `"a[\\]b"`},
		{"what only looks like an escape", `u{202e}`, `"a\u{202e}"`, `"a\[u{202e}]"`},
		{"an escape that was cut", "u00", `"\u00`, `"\[u00]`},
		{"a backslash at the end", "a", `"a\`, `"[a]\`},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, "", c.want, found(t, c.pattern, c.line, (*find.Pattern).InJSON))
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":      "the search text is empty",
		"/(a/":  "invalid regular expression: missing closing ): `(a`",
		`/a\8/`: "invalid regular expression: invalid escape sequence: `\\8`",
	} {
		_, err := find.Parse(text)
		if err == nil {
			t.Errorf("%q can be searched for", text)
		} else if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q, -want +got:\n%s", text, diff)
		}
	}
}

func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		pattern, raw string
		want         bool
	}{
		{"kyoto", `{"city":"KYOTO"}`, false},
		{"kyoto", `{"city":"Osaka"}`, true},
		{"Kyoto", `{"city":"KYOTO"}`, true},
		{`"city": "Osaka"`, `{"city":"Osaka"}`, false}, // it is shown with a blank
		{"kyoto", `{"city":"\u004byoto"}`, false},
		{"202e", "\u202e", false},
		{": ", "abc", false},
		{"/kyoto/", "abc", false},
	} {
		p := must.Get(find.Parse(c.pattern))(t)
		expect.Equal(t, fmt.Sprintf("%q is absent from %q", c.pattern, c.raw), c.want, p.Absent([]byte(c.raw)))
	}
}

// Matches are parts of the line, in order and apart; what a JSON string means is found in it; and nothing is called
// absent that is found.
func FuzzInJSON(f *testing.F) {
	for _, seed := range [][2]string{
		{"kyoto", `"city": "Kyoto"`},
		{"ü", `"K\u00fcche\n\"x\""`},
		{"/a+|b?/", `aab\`},
		{"🍣", `"\ud83c\udf63\ud83c"`},
		{`\`, `\\\`},
		{"K", "\u212a \xff\x00\\u"},
		{"/(?-i)a/", "A"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, line string) {
		p, err := find.Parse(pattern)
		if err != nil {
			return
		}
		end := 0
		ranges := p.InJSON(line)
		for _, r := range ranges {
			if r.From < end || r.From >= r.To || r.To > len(line) {
				t.Fatalf("%q in %q: %v", pattern, line, ranges)
			}
			end = r.To
		}
		if len(p.In(line)) > 0 && len(ranges) == 0 {
			t.Fatalf("%q in %q is found as text only", pattern, line)
		}
		if len(ranges) > 0 && p.Absent([]byte(line)) {
			t.Fatalf("%q in %q is found and absent", pattern, line)
		}
		var meant string
		if json.Unmarshal([]byte(line), &meant) != nil || !utf8.ValidString(line) || meant == "" ||
			strings.ContainsRune(meant, utf8.RuneError) {
			return
		}
		if p, err = find.Parse(meant); err != nil || meant[0] == '/' {
			return
		}
		if len(p.InJSON(line)) == 0 {
			t.Fatalf("%q is not found in %q", meant, line)
		}
	})
}
