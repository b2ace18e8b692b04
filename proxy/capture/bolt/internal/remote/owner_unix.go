//go:build unix

package remote

import (
	"io/fs"
	"os"
	"syscall"
)

// NoFileModes says that file modes mean nothing on this system.
const NoFileModes = false

func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
