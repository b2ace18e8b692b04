//go:build unix

package remote

import (
	"io/fs"
	"os"
	"syscall"
)

// NoFileModes reports that file modes have a meaning on this system.
const NoFileModes = false

func ownedByUser(info fs.FileInfo) bool { return owner(info) == os.Geteuid() }

// owner returns the user to whom a file belongs, or -1 if unknown.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
