//go:build !unix

package remote

import "io/fs"

// NoFileModes says that file modes mean nothing on this system: the user's folders are guarded by access lists that
// they inherit.
const NoFileModes = true

func ownedByUser(fs.FileInfo) bool { return true }
