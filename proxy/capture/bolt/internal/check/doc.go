// Package check looks at the files of a capture for what is wrong with them.
//
// A [Checker] reads every step, and compares everything derived from the steps: rows, parts, the index, the totals.
// [Sound] only compares the blocks' bytes with their checksums, and is much faster. [VerifyUnsummed] is needed to open
// captures of earlier versions, which have no checksums of their buckets.
//
// It changes nothing. Which files there are and who holds them is for the caller.
package check
