//go:build unix

package bolt

import (
	"io/fs"
	"os"
	"syscall"
)

// permissionless says that file modes mean nothing on this system.
const permissionless = false

func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
