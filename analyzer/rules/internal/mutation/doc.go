// Package mutation tests the rules: what is planted in the traffic of transcripts is found as what it is, and another
// way to say the same is not found at all. There is nothing in it but tests.
package mutation
