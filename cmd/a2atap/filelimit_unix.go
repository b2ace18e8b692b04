//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveFileLimit makes a file that has grown to the limit of its process (ulimit -f) an error like a full disk. Else
// the system ends the process. The signal is taken rather than ignored, since programs that are run would inherit that.
func surviveFileLimit() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }
