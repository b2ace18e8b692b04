//go:build race

package rules_test

// longStream is how many events stand for a stream that does not end. The race detector makes each twenty times as
// slow.
const longStream = 50_000

// manyExchanges is how many exchanges stand for a long day.
const manyExchanges = 20_000
