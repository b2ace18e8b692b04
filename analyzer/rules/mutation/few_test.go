//go:build !peers

package mutation

// mutate is in which transcripts TestMutations plants mutations unless it is told.
const mutate = "some"

// everyMistyping is which part of all members of the wrong type TestWrongTypes tries.
const everyMistyping = 11
