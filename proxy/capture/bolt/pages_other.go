//go:build !linux

package bolt

import "go.etcd.io/bbolt"

// canDrop says that dropPages does what it says.
const canDrop = false

// dropPages leaves the pages that reading has mapped to the system.
func dropPages(*bbolt.DB) error { return nil }
