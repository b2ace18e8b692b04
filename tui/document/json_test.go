package document

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/tui/text"
)

func laid(data string) string {
	var b strings.Builder
	for _, l := range LayJSON([]byte(data)) {
		b.WriteString(text.Blanks(2*l.Depth) + l.String() + "\n")
	}
	return b.String()
}

func TestLayJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"object", `{"a":1,"b":[true,null]}`, "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ]\n}\n"},
		{"empty values", `{"a":{},"b":[ ]}`, "{\n  \"a\": {},\n  \"b\": []\n}\n"},
		{"numbers as sent", `[1.0, 1e2, 12345678901234567890]`, "[\n  1.0,\n  1e2,\n  12345678901234567890\n]\n"},
		{"names that stand twice", `{"a":1,"a":2}`, "{\n  \"a\": 1,\n  \"a\": 2\n}\n"},
		{"escapes as sent", `{"a":"\u0041\"\\"}`, "{\n  \"a\": \"\\u0041\\\"\\\\\"\n}\n"},
		{"cut in a string", `{"a":["ky`, "{\n  \"a\": [\n    \"ky\n"},
		{"cut after a name", `{"a"`, "{\n  \"a\"\n"},
		{"too many brackets", `{"a":1}}]`, "{\n  \"a\": 1\n}\n}\n]\n"},
		{"two texts", `{"a":1} {"b":2}`, "{\n  \"a\": 1\n}{\n  \"b\": 2\n}\n"},
		{"values side by side", `[k  oto]`, "[\n  k oto\n]\n"},
		{"no JSON inside", `{a: b, 'c'}`, "{\n  a: b,\n  'c'\n}\n"},
		{"control character", "{\"a\":\"\x1b\"}", "{\n  \"a\": \"␛\"\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkNodes(t, LayJSON([]byte(c.in)))
			expect.Same(t, "", c.want, laid(c.in))
		})
	}
}

// Brackets are the cheapest way to ask for much memory.
func TestLayJSONBrackets(t *testing.T) {
	const brackets = FirstShown
	lines := LayJSON([]byte(strings.Repeat("[", brackets)))
	longest := 0
	for _, l := range lines {
		longest = max(longest, len(l.pointer))
	}
	if len(lines) != brackets || longest > 2*MaxPointed {
		t.Errorf("%d brackets are %d lines with pointers of up to %d bytes", brackets, len(lines), longest)
	}
}

func TestLayJSONPointers(t *testing.T) {
	var got []string
	for _, l := range LayJSON([]byte(`{"a/b":[{"x~":1},2],"\u0063":{}}`)) {
		if l.begins {
			got = append(got, l.pointer)
		}
	}
	want := []string{"", "/a~1b", "/a~1b/0", "/a~1b/0/x~0", "/a~1b/1", "/c"}
	expect.Same(t, "pointers", want, got)
}

// Nothing but blanks between tokens comes or goes, and in a JSON text every pointer leads to a value.
func FuzzLayJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,{"b":null}],"c":"d"}`, `[[],{},""]`, `{"a":"\"`, `}{`, `{"a" "b":1:2}`,
		"[\x1b]", `{"":{"":0}}`, `[1,,2]`, "{\"\x9f\":1}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		var tokens strings.Builder
		lines := LayJSON([]byte(data))
		for _, l := range lines {
			tokens.WriteString(l.String())
		}
		checkNodes(t, lines)
		if text.IsPlain(data) {
			if got, want := unblank(tokens.String()), unblank(data); got != want {
				t.Fatalf("laid out, %q says %q", data, got)
			}
		}
		doc := a2a.Parse([]byte(data))
		if doc.Err != nil || len(doc.Duplicates) > 0 {
			return
		}
		for _, l := range lines {
			if l.begins && !doc.Root.At(l.pointer).Exists() {
				t.Fatalf("%q has nothing at %q", data, l.pointer)
			}
		}
	})
}

func unblank(s string) string { return strings.ReplaceAll(s, " ", "") }

// Every value that is laid out ends where its bracket is, or with the text, and is counted by its parts.
func checkNodes(t *testing.T, lines []JSONLine) {
	t.Helper()
	for i, l := range lines {
		if !l.opens {
			continue
		}
		if l.end < i || l.end >= len(lines) || l.closed && !lines[l.end].closes {
			t.Fatalf("line %d, %q, opens a value that ends in line %d", i, l, l.end)
		}
		parts := 0
		for _, in := range lines[i+1 : l.end+1] {
			if in.Depth < l.Depth {
				t.Fatalf("%q is in the value of %q", in, l)
			}
			if in.begins && in.Depth == l.Depth+1 {
				parts++
			}
		}
		if l.foldable() && l.Depth+1 <= MaxPointed && parts != l.inside {
			t.Fatalf("line %d, %q, has %d parts below, and counts %d", i, l, parts, l.inside)
		}
	}
}

func TestUnfoldAround(t *testing.T) {
	at := analysis.Place{Exchange: 1}.Body()
	for _, all := range []bool{false, true} {
		f := Folding{All: all}
		if !all {
			f.Toggle(at.At(""))
			f.Toggle(at.At("/a~1b"))
			f.Toggle(at.At("/a~1b/0/c"))
		}
		f.UnfoldAround(at.At("/a~1b/0/c"))
		var got []string
		for depth, pointer := range []string{"", "/a~1b", "/a~1b/0", "/a~1b/0/c"} {
			got = append(got, fmt.Sprint(f.folded(at.At(pointer), depth)))
		}
		expect.Equal(t, fmt.Sprintf("folded with all %v", all), "false false false true", strings.Join(got, " "))
	}
}
