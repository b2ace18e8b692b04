//go:build !linux

package background

import "runtime"

// yield lets other goroutines go first.
func yield() { runtime.Gosched() }
