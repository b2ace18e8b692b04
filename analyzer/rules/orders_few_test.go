//go:build !peers

package rules_test

// orders is in how many orders TestOverlapsProveNothing has each transcript.
const orders = 4

// everyDivision says whether TestPartsSayWhatTheWholeSays has each transcript in each number of parts, or in one.
const everyDivision = false
