package analyzer

import "fmt"

// Plural returns a count with its noun, whose plural ends with s: "1 finding", "2 findings". It is for messages of this
// package, of reports and of commands.
func Plural[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
