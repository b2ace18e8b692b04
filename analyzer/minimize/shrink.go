package minimize

// shrink tries to remove runs of a list of n elements, longer runs first, and then single elements until none can be
// removed. cut removes the elements from (included) to to (excluded) of the current list, and reports whether it could.
func shrink(n int, cut func(from, to int) bool) {
	for size := n; size > 0; {
		found := false
		for from := 0; from < n; {
			to := min(from+size, n)
			if cut(from, to) {
				n -= to - from
				found = true
			} else {
				from = to
			}
		}
		switch {
		case size > 1:
			size = (min(size, n) + 1) / 2
		case !found:
			return
		}
	}
}
