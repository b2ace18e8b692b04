//go:build darwin || linux

package segments

import (
	"os"
	"syscall"
)

// takeAway makes reads of the mapped page at an address fault.
func takeAway(page uintptr) {
	size := uintptr(os.Getpagesize())
	syscall.Syscall(syscall.SYS_MPROTECT, page&^(size-1), size, syscall.PROT_NONE)
}
