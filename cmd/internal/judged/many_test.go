//go:build peers

package judged

const oneIn = 1
