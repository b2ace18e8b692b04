//go:build unix

package bolt

import (
	"io/fs"
	"os"
	"syscall"
)

// noFileModes says that file modes mean nothing on this system.
const noFileModes = false

func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
