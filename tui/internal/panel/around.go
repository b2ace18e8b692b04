package panel

import "iter"

// Around yields the other positions of a list of n, starting after a position, or before it if step is -1. First come
// those up to the end of the list, then, with true, those from its other end.
func Around(at, n, step int) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		for k := 1; k < n; k++ {
			i := at + k*step
			beyond := i < 0 || i >= n
			if !yield((i+n)%n, beyond) {
				return
			}
		}
	}
}

// OnFrom returns the message that a search has wrapped around.
func OnFrom(what string, step int) string {
	if step > 0 {
		return "no " + what + " further down; continuing at the top"
	}
	return "no " + what + " further up; continuing at the end"
}
