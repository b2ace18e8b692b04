package segments

import (
	"syscall"

	"go.etcd.io/bbolt"
)

// CanDrop reports that DropPages works.
const CanDrop = true

// DropPages unmaps the pages that reading has mapped. They stay in the system's cache, and are mapped again when they
// are read.
func DropPages(db *DB) error {
	return db.View(func(tx *bbolt.Tx) error { return dropPages(db, tx) })
}

// dropPages is DropPages within a transaction, which keeps the map in place.
func dropPages(db *DB, tx *bbolt.Tx) error {
	_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, db.Info().Data, uintptr(tx.Size()), syscall.MADV_DONTNEED)
	if errno != 0 {
		return errno
	}
	return nil
}
