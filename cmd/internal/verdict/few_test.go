//go:build !peers

package verdict

// oneIn says how many of the recordings with notifications are tried: the tag peers tries all.
const oneIn = 3
