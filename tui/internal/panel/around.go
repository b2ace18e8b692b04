package panel

import "iter"

// Around yields the other positions of a list of n, from the one behind a position on, or the one before it if step is -1:
// first those up to the end of the list, and then, with true, those from its other end on.
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

// OnFrom says that what is looked for was found from the other end of a list on.
func OnFrom(what string, step int) string {
	if step > 0 {
		return "no " + what + " further down; on from the top"
	}
	return "no " + what + " further up; on from the end"
}
