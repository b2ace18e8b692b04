// Package check looks at the files of a capture for what is wrong with them.
//
// A [Checker] reads every step, and compares what beside the steps follows from them: rows, parts, the index, the totals.
// [Sound] compares the stored bytes of the blocks with their checksums, and is far sooner done. [VerifyUnsummed] is what
// opening a capture of an earlier program costs, which left no sums of its buckets.
//
// It changes nothing. Which files there are and who holds them is for the caller.
package check
