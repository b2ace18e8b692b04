//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// residentMiB is the most memory that a process had, in MiB.
func residentMiB(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes there
		return int64(usage.Maxrss) >> 20
	}
	return int64(usage.Maxrss) >> 10
}
