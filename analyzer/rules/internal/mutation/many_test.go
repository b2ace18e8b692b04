//go:build peers

package mutation_test

// mutate selects the transcripts in which TestMutations plants mutations by default.
const mutate = "all"

// everyMistyping is which part of all members of the wrong type TestWrongTypes tries.
const everyMistyping = 5

// oneIn says which part of the transcripts TestVariationsAreSilent varies, and in which part of the protocols
// TestMutations plants each mutation.
const oneIn = 1
