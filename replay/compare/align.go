package compare

import "slices"

// maxApart bounds the elements that only one of two lists may have: time and memory of Align grow with its square.
const maxApart = 1000

// Align returns a longest common subsequence of two lists of n and m elements, as pairs of indices in order. It returns
// false if more than maxApart elements are in one list alone: then it pairs the equal ones at both ends only.
//
// Source: Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
func Align(n, m int, equal func(i, j int) bool) (pairs [][2]int, whole bool) {
	if trace, found := search(n, m, equal); found {
		return walkBack(trace, n, m), true
	}
	for i := 0; i < min(n, m) && equal(i, i); i++ {
		pairs = append(pairs, [2]int{i, i})
	}
	begin := len(pairs)
	for i, j := n-1, m-1; min(i, j) >= begin && equal(i, j); i, j = i-1, j-1 {
		pairs = append(pairs, [2]int{i, j})
	}
	slices.Reverse(pairs[begin:])
	return pairs, false
}

// search finds the shortest path from the beginning of both lists to their ends. For each number of differences, the
// trace has the furthest position on each diagonal before the last difference.
func search(n, m int, equal func(i, j int) bool) (trace [][]int, found bool) {
	most := min(n+m, maxApart)
	zero := most + 1               // index of diagonal 0
	reach := make([]int, 2*most+4) // by diagonal
	for d := 0; d <= most; d++ {
		before := slices.Clone(reach[zero-d-1 : zero+d+2]) // diagonals -d-1..d+1
		trace = append(trace, before)
		for k := -d; k <= d; k += 2 {
			x, _ := enter(before, d, k)
			y := x - k
			for x < n && y < m && equal(x, y) {
				x, y = x+1, y+1
			}
			reach[zero+k] = x
			if x >= n && y >= m {
				return trace, true
			}
		}
	}
	return nil, false
}

// enter returns where diagonal k is entered with the last of d differences, and from which diagonal. The reach of
// diagonals before it begins with -d-1.
func enter(before []int, d, k int) (x, from int) {
	switch {
	case d == 0:
		return 0, k
	case k == -d || k != d && before[k+d] < before[k+d+2]:
		return before[k+d+2], k + 1
	}
	return before[k+d] + 1, k - 1
}

// walkBack turns the trace into pairs.
func walkBack(trace [][]int, x, y int) (pairs [][2]int) {
	for d := len(trace) - 1; d >= 0; d-- {
		k := x - y
		fromX, from := enter(trace[d], d, k)
		for x > fromX {
			x, y = x-1, y-1
			pairs = append(pairs, [2]int{x, y})
		}
		if from < k { // entered by an element of the first list alone
			x--
		}
		y = x - from
	}
	slices.Reverse(pairs)
	return pairs
}
