package align_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/tui/internal/align"
)

// draw writes rows as lines of a diff.
func draw(a, b []string, rows []align.Row) string {
	var lines []string
	for _, r := range rows {
		switch {
		case r.Same():
			lines = append(lines, "="+a[r.A])
		case r.A >= 0:
			lines = append(lines, "-"+a[r.A])
		default:
			lines = append(lines, "+"+b[r.B])
		}
	}
	return strings.Join(lines, " ")
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"a", "", "-a"},
		{"", "a", "+a"},
		{"a b c", "a b c", "=a =b =c"},
		{"a b c", "a x c", "=a -b +x =c"},
		{"a b c a b b a", "c b a b a c", "-a -b =c +b =a =b -b =a +c"},
		{"a b", "c d", "-a -b +c +d"},
		{"x a b y", "a b", "-x =a =b -y"},
	} {
		a, b := strings.Fields(c.a), strings.Fields(c.b)
		expect.Equal(t, fmt.Sprintf("%q and %q", c.a, c.b), c.want, draw(a, b, align.Lines(a, b)))
	}
}

// Texts that have nothing in common but their ends are not compared forever.
func TestLinesOfLongTexts(t *testing.T) {
	var a, b []string
	for i := range 30_000 {
		a, b = append(a, fmt.Sprint("a", i)), append(b, fmt.Sprint("b", i))
	}
	a[0], b[0] = "same", "same"
	rows := align.Lines(a, b)
	check(t, a, b, rows)
	if !rows[0].Same() {
		t.Error("the first lines are equal, and not in one row")
	}
}

// check fails unless each line is in one row, in order, and lines of a row are equal.
func check(t *testing.T, a, b []string, rows []align.Row) (same int) {
	t.Helper()
	i, j := 0, 0
	for _, r := range rows {
		if r.A >= 0 && r.A != i || r.B >= 0 && r.B != j || r.A < 0 && r.B < 0 {
			t.Fatalf("row %v after lines %d and %d", r, i, j)
		}
		if r.Same() {
			same++
			if a[r.A] != b[r.B] {
				t.Fatalf("row %v holds %q and %q", r, a[r.A], b[r.B])
			}
		}
		i, j = i+min(r.A+1, 1), j+min(r.B+1, 1)
	}
	if i != len(a) || j != len(b) {
		t.Fatalf("%d of %d and %d of %d lines are in rows", i, len(a), j, len(b))
	}
	return same
}

// longest is the length of the longest common subsequence, by the plain table.
func longest(a, b []string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1] + 1
			default:
				table[i][j] = max(table[i-1][j], table[i][j-1])
			}
		}
	}
	return table[len(a)][len(b)]
}

func FuzzLines(f *testing.F) {
	f.Add("a b c a b b a", "c b a b a c")
	f.Add("a a a", "a")
	f.Fuzz(func(t *testing.T, x, y string) {
		a, b := strings.Fields(x), strings.Fields(y)
		if len(a)*len(b) > 1<<16 {
			return
		}
		if same, most := check(t, a, b, align.Lines(a, b)), longest(a, b); same != most {
			t.Errorf("%d lines are the same of %d that could be", same, most)
		}
	})
}
