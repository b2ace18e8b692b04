//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveFileLimit turns writes beyond the process's file size limit (ulimit -f) into errors like a full disk.
// Otherwise the system ends the process. The signal is handled, not ignored, since child programs would inherit
// ignoring it.
func surviveFileLimit() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }
