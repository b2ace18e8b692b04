//go:build !peers

package mutation_test

// mutate is in which transcripts TestMutations plants mutations unless it is told.
const mutate = "some"

// everyMistyping is which part of all members of the wrong type TestWrongTypes tries.
const everyMistyping = 193

// oneIn says which part of the transcripts TestVariationsAreSilent varies, and in which part of the protocols
// TestMutations plants each mutation.
const oneIn = 16
