//go:build !unix

package relay

// openFileLimit returns how many descriptors this process may have, or 0 if unknown.
func openFileLimit() uint64 { return 0 }
