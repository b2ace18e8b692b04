// Package spelling compares words that people write.
package spelling

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
