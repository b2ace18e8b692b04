package safetext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"a2atap/proxy/expect"
	"a2atap/proxy/safetext"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"a\n\tb\r\nc":                    "a\n\tb\r\nc",
		"a\rb\r":                         "a\ufffdb\ufffd",
		"\u00a0\u3000\u00ad é":           "\u00a0\u3000\u00ad é",
		"👨\u200d👩 می\u200cخواهم":         "👨\u200d👩 می\u200cخواهم",
		"\x1b[2J\x00\x7f\u0085\u009b":    "\ufffd[2J\ufffd\ufffd\ufffd\ufffd",
		"\u202e\u2066\u200f\u061c\u2028": strings.Repeat("\ufffd", 5),
		"\x9b2J\xff\xe2\x80":             "\ufffd2J\ufffd\ufffd\ufffd",
	} {
		expect.Equal(t, text, want, safetext.Plain(text))
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("a\r\n\tb\u202e\x1b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := safetext.Plain(text)
		if !utf8.ValidString(got) || safetext.Plain(got) != got || strings.ContainsAny(got, "\x00\x1b\b\u009b\u202e") {
			t.Errorf("%q: got %q", text, got)
		}
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q: other lines in %q", text, got)
		}
	})
}
