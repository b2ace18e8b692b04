//go:build peers

package rules_test

// oneIn says which part of the transcripts a test has that does the same with each of them.
const oneIn = 1

// orders is in how many orders TestOverlapsProveNothing has each transcript.
const orders = 15
