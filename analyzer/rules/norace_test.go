//go:build !race

package rules_test

// longStream is how many events stand for a stream that does not end.
const longStream = 200_000

// manyExchanges is how many exchanges stand for a long day.
const manyExchanges = 100_000
