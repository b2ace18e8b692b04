//go:build !unix

package remote

import "io/fs"

// NoFileModes reports that file modes have no meaning on this system: inherited access lists protect the user's
// folders.
const NoFileModes = true

func ownedByUser(fs.FileInfo) bool { return true }

func owner(fs.FileInfo) int { return 0 }
