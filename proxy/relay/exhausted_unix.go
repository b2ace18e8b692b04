//go:build unix

package relay

import "syscall"

// openFileLimit returns how many descriptors this process may have, or 0 if unknown.
func openFileLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) //nolint:unconvert // signed on some systems
}
