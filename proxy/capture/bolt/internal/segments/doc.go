// Package segments opens the files of a capture and reads them.
//
// A [Segment] is one file; a [Set] is all of a capture, in order. A Set answers readers' queries: blocks from an
// arrival number on, places of exchanges, index entries of a key, stored entries. Each answer is copied in one short
// transaction, so that readers do not prevent a file from growing.
//
// # What it promises
//
// No file is given to the database before package pages has looked through it ([Segment.Verify]). A panic or a fault of
// the database is an error that wraps [ErrPanicked]. A file in use is an error that wraps [ErrLocked]; calls never wait
// for longer than a moment.
package segments
