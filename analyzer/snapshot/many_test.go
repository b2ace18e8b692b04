//go:build peers

package snapshot_test

// oneIn says which part of the transcripts a test has that does the same with each of them.
const oneIn = 1
