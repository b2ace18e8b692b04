// Package remote reads a capture from outside its recorder, whether anybody records into it or not.
//
// A [Capture] uses the way that is open: the files while nobody records, and while a recorder holds them its socket, on
// which a [Server] answers with the same pages. It changes over by itself in the middle of a call. What is kept beside
// the steps of a capture that nobody records can be replaced here, and old formats are upgraded ([UpgradeSegment]).
//
// # What it promises
//
// A reader never keeps a recorder from starting: the files stay open between calls, but are locked only during one, and
// many readers of one process let go of them together for a moment. A reader that is slow or stuck holds up nothing but
// its own page. A file that was written or replaced since is noticed and opened again.
//
// A socket is made with mode 0600, beside the file or in a private folder of the user. An answer of any content is
// safe. Whoever speaks another version of the protocol is named, and not understood.
package remote
