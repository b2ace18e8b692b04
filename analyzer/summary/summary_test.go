package summary_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/summary"
)

// A text on one line is its words with a blank between them, whatever bytes it is made of.
func TestOneLine(t *testing.T) {
	for _, text := range []string{
		"", " ", "one", "  two \t\n words ", "Zürich\u00a0und\u2003京都", "bad \xff\xfe bytes\xc3", "\u0085edge\u0085",
		strings.Repeat("é ", 40),
	} {
		if got, want := summary.OneLine(text), strings.Join(strings.Fields(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := summary.OneLine(strings.Repeat("long ", 200)); len(got) > 130 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text has %d bytes: %q", len(got), got)
	}
}
