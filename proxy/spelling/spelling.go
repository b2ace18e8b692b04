// Package spelling compares words that people write: [Near] finds the known words that a user may have meant, for
// messages such as did you mean "json".
//
// It does not know what words mean, and imports no other package of a2atap. All functions are safe for concurrent use.
package spelling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxWord bounds the length in bytes of what is compared. No name that anybody means is nearly as long.
const maxWord = 64

// Distance returns how many bytes have to be put in, taken out or replaced to make b of a. Of both no more than the
// first 64 bytes count.
//
// Source: V. Levenshtein, Binary codes capable of correcting deletions, insertions, and reversals, 1966.
func Distance(a, b string) int {
	a, b = a[:min(len(a), maxWord)], b[:min(len(b), maxWord)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Near returns at most n of the known words that a user may have meant by a word, the likeliest first: words that begin
// with it, allowing a slip in four letters, or contain it, and words that differ from it in less than half of its
// letters. Case does not count.
func Near(word string, known []string, n int) []string {
	word = strings.ToLower(word)
	type near struct {
		word     string
		distance int
	}
	var all []near
	for _, k := range known {
		lower := strings.ToLower(k)
		d := Distance(word, lower)
		switch {
		case len(word) > 1 && strings.HasPrefix(lower, word):
			d = min(d, 1)
		case len(word) > 2 && strings.Contains(lower, word):
			d = min(d, 2)
		case len(word) > 4 && len(lower) > len(word) && 4*Distance(word, lower[:len(word)]) <= len(word):
			d = min(d, 1+Distance(word, lower[:len(word)]))
		case 2*d >= len(word)+1:
			continue
		}
		all = append(all, near{k, d})
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var words []string
	for _, one := range all[:min(n, len(all))] {
		words = append(words, one.word)
	}
	return words
}

// Hint returns "; did you mean ...?" with up to three of the known words that a user may have meant by a word, else "".
func Hint(word string, known []string) string {
	near := Near(word, known, 3)
	for i := range near {
		near[i] = fmt.Sprintf("%q", strings.TrimSpace(near[i]))
	}
	switch n := len(near); n {
	case 0:
		return ""
	case 1:
		return "; did you mean " + near[0] + "?"
	default:
		return "; did you mean " + strings.Join(near[:n-1], ", ") + " or " + near[n-1] + "?"
	}
}
