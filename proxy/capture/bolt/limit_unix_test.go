//go:build unix

package bolt

import (
	"os"
	"os/signal"
	"syscall"
)

// limitFileSize makes every write fail that would make a file larger than the one at path is now, until restore is
// called.
func limitFileSize(path string) (restore func() error, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// Without this the system ends a process that writes too much.
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return nil, err
	}
	limit := before
	limit.Cur = uint64(info.Size())
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return nil, err
	}
	return func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }, nil
}
