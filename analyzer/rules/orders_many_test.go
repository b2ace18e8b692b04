//go:build peers

package rules_test

// orders is in how many orders TestOverlapsProveNothing has each transcript.
const orders = 40
