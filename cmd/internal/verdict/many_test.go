//go:build peers

package verdict

const oneIn = 1
