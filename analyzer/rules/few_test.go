//go:build !peers

package rules_test

// oneIn says which part of the transcripts a test has that does the same with each of them.
const oneIn = 8

// orders is in how many orders TestOverlapsProveNothing and TestLiveFindsTheSame have each transcript.
const orders = 2

// streamEvents is how many events TestStreamsTakeFlatMemory has in a stream.
const streamEvents = 6_000
