//go:build unix

package bolt

import (
	"os"
	"syscall"
)

// becomeNobody gives up the rights of an administrator, whom no file mode stops.
func becomeNobody() error {
	if os.Geteuid() != 0 {
		return nil
	}
	return syscall.Setuid(65534)
}
