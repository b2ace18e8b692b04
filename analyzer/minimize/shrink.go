package minimize

// shrink tries to take away runs of a list of n, longer ones first, and then single ones until none of them can be
// spared. It is told the list as it is then: cut removes from (included) to to (excluded), and says whether it could.
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
