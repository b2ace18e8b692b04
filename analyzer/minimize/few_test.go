//go:build !peers

package minimize_test

// everyTranscript says whether the tests take all transcripts of the rules, or one of each family.
const everyTranscript = false
