// Package remote reads a capture from outside its recorder, whether anybody records into it or not.
//
// A [Capture] uses the available access: the files if no recorder holds them, else the recorder's socket, on which a
// [Server] answers with the same pages. It switches automatically, even in the middle of a call. The stored entries of
// a capture that is not being recorded can be replaced here, and old formats are upgraded ([UpgradeSegment]).
//
// # What it promises
//
// A reader never keeps a recorder from starting: the files stay open between calls, but are locked only during one, and
// many readers of one process let go of them together for a moment. A reader that is slow or stuck holds up nothing but
// its own page. A file that was written or replaced since is noticed and opened again.
//
// A socket has mode 0600 and is next to the file or in a private directory of the user. A client can handle any
// content in an answer. A peer with another protocol version is reported with its version.
package remote
