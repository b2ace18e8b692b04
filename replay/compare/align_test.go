package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/compare"
)

// align pairs the words of two lists.
func align(a, b []string) (pairs [][2]int, whole bool) {
	return compare.Align(len(a), len(b), func(i, j int) bool { return a[i] == b[j] })
}

func TestAlign(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", "[]"},
		{"a", "", "[]"},
		{"", "a", "[]"},
		{"a b c", "a b c", "[[0 0] [1 1] [2 2]]"},
		{"a b c", "a x c", "[[0 0] [2 2]]"},
		{"a b c a b b a", "c b a b a c", "[[2 0] [3 2] [4 3] [6 4]]"},
		{"a b", "c d", "[]"},
		{"x a b y", "a b", "[[1 0] [2 1]]"},
		{"b a c a", "a", "[[1 0]]"},
	} {
		pairs, whole := align(strings.Fields(c.a), strings.Fields(c.b))
		if !whole {
			t.Error("too many differences")
		}
		expect.Equal(t, fmt.Sprintf("%q and %q", c.a, c.b), c.want, fmt.Sprint(pairs))
	}
}

// Aligning two lists that share only their ends does not take forever.
func TestAlignLongLists(t *testing.T) {
	var a, b []string
	for i := range 30_000 {
		a, b = append(a, fmt.Sprint("a", i)), append(b, fmt.Sprint("b", i))
	}
	a[0], b[0] = "same", "same"
	a, b = append(a, "end"), append(b, "x", "end")
	pairs, whole := align(a, b)
	if got := fmt.Sprint(pairs, whole); got != "[[0 0] [30000 30001]] false" {
		t.Error(got)
	}
}

// longest returns the length of the longest common subsequence, computed with the full table.
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

func FuzzAlign(f *testing.F) {
	f.Add("a b c a b b a", "c b a b a c")
	f.Add("a a a", "a")
	f.Fuzz(func(t *testing.T, x, y string) {
		a, b := strings.Fields(x), strings.Fields(y)
		if len(a)*len(b) > 1<<16 {
			return
		}
		pairs, whole := align(a, b)
		last := [2]int{-1, -1}
		for _, p := range pairs {
			if p[0] <= last[0] || p[1] <= last[1] || a[p[0]] != b[p[1]] {
				t.Fatalf("pair %v after %v", p, last)
			}
			last = p
		}
		if most := longest(a, b); whole && len(pairs) != most {
			t.Errorf("%d pairs of %d that could be", len(pairs), most)
		}
	})
}
