package bolt

import (
	"syscall"

	"go.etcd.io/bbolt"
)

// canDrop says that dropPages does what it says.
const canDrop = true

// dropPages unmaps the pages that reading has mapped. They stay in the system's cache, and come back when they are read
// again.
func dropPages(db *bbolt.DB) error {
	return view(db, func(tx *bbolt.Tx) error { // which keeps the map where it is
		_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, db.Info().Data, uintptr(tx.Size()), syscall.MADV_DONTNEED)
		if errno != 0 {
			return errno
		}
		return nil
	})
}
