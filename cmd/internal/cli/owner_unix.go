//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// OnlyOurs reports whether a file belongs to the user of this process and no other user may write it.
func OnlyOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
