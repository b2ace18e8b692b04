//go:build !unix

package main

import "os"

// residentMiB is not known on this system.
func residentMiB(*os.ProcessState) int64 { return 0 }
