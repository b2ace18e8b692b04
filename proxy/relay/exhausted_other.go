//go:build !unix

package relay

// openFileLimit returns how many descriptors this process may have, 0 if that is not known.
func openFileLimit() uint64 { return 0 }
