//go:build peers

package rules_test

// everyMistyping is which part of all members of the wrong type TestWrongTypes tries.
const everyMistyping = 1
