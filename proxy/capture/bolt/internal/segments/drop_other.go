//go:build !linux

package segments

import "go.etcd.io/bbolt"

// CanDrop reports that DropPages does not work.
const CanDrop = false

// DropPages leaves the pages that reading has mapped to the system.
func DropPages(*DB) error { return nil }

func dropPages(*DB, *bbolt.Tx) error { return nil }
