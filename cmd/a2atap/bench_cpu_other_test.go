//go:build !unix

package main

import "time"

// cpuUsed returns nothing: only Unix says what a process has used of the processor.
func cpuUsed() time.Duration { return 0 }
