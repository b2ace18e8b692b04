// Package align finds which lines of two texts are the same, so that they can be shown side by side.
//
// Rows with a line of both texts are as many as can be, unless the texts are long and differ in most of their lines:
// then the time that it takes is bounded, and the rows may be fewer. It knows nothing of what the lines say.
package align

import "slices"

// maxApart bounds the lines that only one of two texts may have: time and memory grow with it. Texts that differ more
// are aligned as far as their beginnings and ends are equal.
const maxApart = 1000

// A Row is a line of one text beside that of the other; -1 where the other has none.
type Row struct{ A, B int }

// Same reports whether the row is a line that both texts have.
func (r Row) Same() bool { return r.A >= 0 && r.B >= 0 }

// Lines aligns two texts: each line of either is in one row, in order, and rows with a line of both hold equal ones.
// Such rows are as many as can be, unless the texts are long and differ in most of their lines.
//
// Source: Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
func Lines(a, b []string) []Row {
	begin, end := 0, 0
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		begin++
	}
	for end < min(len(a), len(b))-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var rows []Row
	for i := range begin {
		rows = append(rows, Row{i, i})
	}
	for _, r := range middle(a[begin:len(a)-end], b[begin:len(b)-end]) {
		if r.A >= 0 {
			r.A += begin
		}
		if r.B >= 0 {
			r.B += begin
		}
		rows = append(rows, r)
	}
	for i := range end {
		rows = append(rows, Row{len(a) - end + i, len(b) - end + i})
	}
	return rows
}

// middle aligns what is left without equal ends.
func middle(a, b []string) []Row {
	trace, found := search(a, b)
	if !found {
		return apart(len(a), len(b))
	}
	return walkBack(trace, len(a), len(b))
}

// apart is an alignment without an equal line.
func apart(a, b int) (rows []Row) {
	for i := range a {
		rows = append(rows, Row{i, -1})
	}
	for i := range b {
		rows = append(rows, Row{-1, i})
	}
	return rows
}

// search finds the shortest way from the beginning of both texts to their ends. The trace has for each number of
// differences how far each diagonal was reached before the last of them.
func search(a, b []string) (trace [][]int, found bool) {
	most := min(len(a)+len(b), maxApart)
	zero := most + 1               // index of diagonal 0
	reach := make([]int, 2*most+4) // by diagonal
	for d := 0; d <= most; d++ {
		before := make([]int, 2*d+3) // diagonals -d-1..d+1
		copy(before, reach[zero-d-1:])
		trace = append(trace, before)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x = step(reach[zero-d-1:], d, k)
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[zero+k] = x
			if x >= len(a) && y >= len(b) {
				return trace, true
			}
		}
	}
	return nil, false
}

// step returns where diagonal k is entered with the last of d differences: by a line of b alone, or of a alone. The
// reach of diagonals begins with -d-1.
func step(reach []int, d, k int) int {
	if k == -d || k != d && reach[k+d] < reach[k+d+2] {
		return reach[k+d+2]
	}
	return reach[k+d] + 1
}

// walkBack turns the trace into rows.
func walkBack(trace [][]int, x, y int) []Row {
	var rows []Row // from the end
	for d := len(trace) - 1; d >= 0; d-- {
		k, fromX, fromY := x-y, 0, 0
		if d > 0 {
			last := k - 1
			if k == -d || k != d && trace[d][k+d] < trace[d][k+d+2] {
				last = k + 1
			}
			fromX = trace[d][last+d+1]
			fromY = fromX - last
		}
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			rows = append(rows, Row{x, y})
		}
		switch {
		case d == 0:
		case x > fromX:
			x--
			rows = append(rows, Row{x, -1})
		default:
			y--
			rows = append(rows, Row{-1, y})
		}
	}
	slices.Reverse(rows)
	return rows
}
