//go:build !unix

package stdio

import (
	"os"
	"path/filepath"
)

// folder returns the folder of sockets, which is in the user's own temporary folder.
func folder() (string, error) {
	dir := filepath.Join(os.TempDir(), "a2atap")
	return dir, os.MkdirAll(dir, 0o700)
}

// refused reports that no process listens at a socket that cannot be reached.
func refused(error) bool { return true }
