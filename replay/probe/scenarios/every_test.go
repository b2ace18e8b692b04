//go:build peers

package scenarios_test

// everyCase runs the whole suite for each fault, instead of the cases that fail and a few others, and tests a correct
// agent in all dialects, instead of one.
const everyCase = true
