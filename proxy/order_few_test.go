//go:build !peers

package proxy_test

// orderRounds is how many exchanges TestOrderIsCausal makes in each way and mode.
const orderRounds = 200

// faultyCalls is how many calls of each kind TestManyFaultsOverHTTP2 makes.
const faultyCalls = 300
