package textview

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/tui/document"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// drawn returns the lines of a flow, with a stroke between what different events brought.
func drawn(f *flow) []string {
	f.ended()
	var lines []string
	for _, l := range f.lines {
		words := text.Blanks(l.indent)
		for i, s := range l.spans {
			if i > 0 {
				words += "/"
			}
			words += s.text
		}
		lines = append(lines, words)
	}
	return lines
}

func TestFlow(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns int
		indent  int
		pieces  []string // one of each event
		want    []string
	}{
		{"breaks at blanks", 12, 0, []string{"the quick brown fox"}, []string{"the quick ", "brown fox"}},
		{
			"keeps a word in pieces together", 12, 0,
			[]string{"the quick br", "ow", "n fox"},
			[]string{"the quick ", "br/ow/n fox"},
		},
		{"cuts what is too long", 5, 0, []string{"ab cdefghijk l"}, []string{"ab ", "cdefg", "hijk ", "l"}},
		{"keeps line ends and indents", 20, 2, []string{"if x:\n\n\tret", "urn\r\n", "end"}, []string{
			"  if x:", "  ", "      ret/urn", "  end",
		}},
		{"wide characters", 5, 0, []string{"京都行き"}, []string{"京都", "行き"}},
		{"blanks at the end of a line", 5, 0, []string{"abcde   fg"}, []string{"abcde", "fg"}},
		{"control characters", 20, 0, []string{"a\x1b[2Jb"}, []string{"a␛[2Jb"}},
		{"no room at all", 0, 0, []string{"ab京"}, []string{"ab", "京"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := flow{columns: c.columns, indent: c.indent}
			for i, piece := range c.pieces {
				f.write(oneEvent(i), style.Normal, piece)
			}
			expect.Same(t, "", c.want, drawn(&f))
		})
	}
}

// A text of very many lines ends somewhere.
func TestFlowIsBounded(t *testing.T) {
	f := flow{columns: 10}
	f.write(oneEvent(0), style.Normal, strings.Repeat("\n", 2*document.MaxLines))
	if len(f.lines) != document.MaxLines || !f.more {
		t.Errorf("there are %d lines, more %v", len(f.lines), f.more)
	}
}

// Whatever the text and however it comes in pieces: nothing is lost but blanks, and no line is too long.
func FuzzFlow(f *testing.F) {
	f.Add("the quick brown fox\n\tjumps", "over 京都 \x1b[2J", 7)
	f.Add(strings.Repeat("a", 3*maxSegment), " b", 30)
	f.Add("e", "\u0301\u200d\U0001f3fb", 2)
	f.Add("a \u0301\u200d", strings.Repeat("a", maxSegment-1)+"e\u0301\u0302", 2)
	f.Fuzz(func(t *testing.T, one, two string, columns int) {
		columns = min(max(columns, 2), 200)
		w := flow{columns: columns}
		w.write(oneEvent(0), style.Normal, one)
		w.write(oneEvent(1), style.Normal, two)
		w.ended()
		var got, want strings.Builder
		for _, l := range w.lines {
			if n := l.drawn(0).Columns(); n > columns {
				t.Errorf("a line is %d wide, of %d: %q", n, columns, l.drawn(0).String())
			}
			for _, s := range l.spans {
				got.WriteString(s.text)
			}
		}
		for _, words := range []string{one, two} {
			words = strings.ReplaceAll(words, "\r\n", "\n")
			words = strings.ReplaceAll(words, "\t", " ")
			for piece := range strings.SplitSeq(words, "\n") {
				want.WriteString(text.Clean(piece))
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if !w.more && squeeze(got.String()) != squeeze(want.String()) {
			t.Errorf("of %q and %q comes %q", one, two, got.String())
		}
	})
}
