package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/lipgloss"

	"a2atap/proxy/expect"
)

// Terminals draw each character that counts as simple in one cell, whatever its neighbors.
func TestSimpleCharacters(t *testing.T) {
	simple := 0
	for r := rune(' '); r < 0x3000; r++ {
		if !isSimple(string(r)) {
			continue
		}
		simple++
		c := cleaner{}
		for _, r := range "a" + string(r) + "─" + string(r) {
			c.add(r)
		}
		if got, want := c.out.String(), "a"+string(r)+"─"+string(r); got != want || lipgloss.Width(want) != 4 {
			t.Errorf("%q is taken for simple; it is written %q and is %d wide", want, got, lipgloss.Width(want))
		}
	}
	if want := 95 + 160 + 15; simple != want {
		t.Errorf("%d characters are simple, want %d", simple, want)
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "completed 3/4", "completed 3/4"},
		{"colour", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"title", "\x1b]0;owned\a", "␛]0;owned␇"},
		{"line ends and tab", "a\r\n\tb", "a␍␊␉b"},
		{"delete", "a\x7f", "a␡"},
		{"C1 as text", "a\u009b31m", `a\u{9b}31m`},
		{"C1 as byte", "a\x9b31m", `a\x9b31m`},
		{"not UTF-8", "\xff\xfe", `\xff\xfe`},
		{"direction", "user\u202egnp.exe", `user\u{202e}gnp.exe`},
		{"no width", "t\u200b1", `t\u{200b}1`},
		{"byte order mark", "\ufeffa", `\u{feff}a`},
		{"blank that is none", "a\u00a0b", `a\u{a0}b`},
		{"line separator", "a\u2028b", `a\u{2028}b`},
		{"private", "\ue000", `\u{e000}`},
		{"wide", "京都へ", "京都へ"},
		{"accent", "cafe\u0301", "cafe\u0301"},
		{"accent on nothing", "\u0301a", `\u{301}a`},
		{"accent on what was spelled out", "\x1b\u0301", `␛\u{301}`},
		{"symbol with a selector", "✈\ufe0f Kyoto", "✈ Kyoto"},
		{"selector alone", "a\ufe0f", `a\u{fe0f}`},
		{"joined symbols", "👩\u200d👧", "👩👧"},
		{"joiner in a word", "pay\u200dpal", `pay\u{200d}pal`},
		{"skin tone", "👍🏽", "👍"},
		{"marks without end", "a" + strings.Repeat("\u0301", 9), "a" + strings.Repeat("\u0301", 7) + `\u{301}\u{301}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, fmt.Sprintf("clean(%q)", c.in), c.want, Clean(c.in))
		})
	}
}

func TestClipAndPad(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		clip    string
		pad     string
	}{
		{"booker", 6, "booker", "booker"},
		{"booker", 5, "book…", "book…"},
		{"booker", 8, "booker", "booker  "},
		{"京都へ", 5, "京都…", "京都…"},
		{"京都へ", 4, "京…", "京… "},
		{"京都へ", 1, "…", "…"},
		{"京都へ", 0, "", ""},
		{"booker", -3, "", ""},
	} {
		expect.Equal(t, fmt.Sprintf("clip(%q, %d)", c.in, c.columns), c.clip, Clip(c.in, c.columns))
		expect.Equal(t, fmt.Sprintf("pad(%q, %d)", c.in, c.columns), c.pad, Pad(c.in, c.columns))
	}
}

func TestProse(t *testing.T) {
	got := strings.Join(Prose("a rule that never applied was not-observed-at-all", 10), "|")
	if want := "a rule|that never|applied|was|not-observ|ed-at-all"; got != want {
		t.Errorf("prose: got %q, want %q", got, want)
	}
}

// What is drawn has no control bytes, and the width that is reckoned with.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"", "completed", "\x1b[2J\x1b]52;c;aGk=\a", "a\u009b31m\x9b31m", "user\u202egnp.exe", "京都へ ✈\ufe0f 👩\u200d👧 👍🏽 🇯🇵🇯🇵🇯",
		"e\u0301\u0301", "\u0301", "क्षि", "각", "\u1100\u1161\u11a8", "\u200d\u200d", "\U000e0041", "a\u0488\u20dd",
		"\xf0\x9f", "𝒜\ufe0e",
	} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, s string, columns int) {
		got := Clean(s)
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("clean(%q) = %q has %U, which is not printable", s, got, r)
			}
		}
		if again := Clean(got); again != got {
			t.Fatalf("clean(%q) = %q, and that cleaned is %q", s, got, again)
		}
		sum := 0
		for cell, w := range Cells(got) {
			if w < 1 || w > 2 || lipgloss.Width(cell) != w {
				t.Fatalf("clean(%q) = %q has a cell %q of width %d", s, got, cell, w)
			}
			sum += w
		}
		if lipgloss.Width(got) != sum || Width(got) != sum {
			t.Fatalf("clean(%q) = %q is %d columns wide, and its cells are %d", s, got, lipgloss.Width(got), sum)
		}
		columns = (columns%200 + 200) % 200
		if padded := Pad(s, columns); lipgloss.Width(padded) != columns {
			t.Fatalf("pad(%q, %d) = %q, which is %d wide", s, columns, padded, lipgloss.Width(padded))
		}
		if joined := strings.Join(Fold(s, columns), ""); joined != got {
			t.Fatalf("fold(%q, %d) keeps %q of %q", s, columns, joined, got)
		}
	})
}
