// Package check examines the files of a capture for problems.
//
// A [Checker] reads every step, and compares everything derived from the steps: rows, parts, the index, the totals.
// [Sound] only compares the blocks' bytes with their checksums, and is much faster. [VerifyUnsummed] is needed to open
// captures of earlier versions, which have no checksums of their buckets.
//
// It changes nothing. The caller determines which files exist and who holds them.
package check
