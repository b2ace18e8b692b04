// Package segments opens the files of a capture and reads them.
//
// A [Segment] is one file; a [Set] is all of a capture, in order. A Set answers what a reader asks: blocks from an
// arrival number on, where exchanges are, what the index has for a key, what is kept beside the steps. Each answer is
// copied out in one short transaction, so that nobody holds up the growth of a file.
//
// # What it promises
//
// No file is given to the database before package pages has looked through it ([Segment.Verify]). A panic or a fault of
// the database is an error that wraps [ErrPanicked]. A file that another holds is an error that wraps [ErrLocked]; nobody
// waits here for longer than a moment.
package segments
