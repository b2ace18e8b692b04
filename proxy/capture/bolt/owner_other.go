//go:build !unix

package bolt

import "io/fs"

// noFileModes says that file modes mean nothing on this system: the user's folders are guarded by access lists that
// they inherit.
const noFileModes = true

func ownedByUser(fs.FileInfo) bool { return true }
