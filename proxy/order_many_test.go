//go:build peers

package proxy_test

// orderRounds is how many exchanges TestOrderIsCausal makes in each way and mode: 100,000 in all, and more.
const orderRounds = 10_500

// faultyCalls is how many calls of each kind TestManyFaultsOverHTTP2 makes.
const faultyCalls = 1_200
