//go:build !peers

package judged

// oneIn says how many of the recordings with notifications are tried: the tag peers tries all.
const oneIn = 3
