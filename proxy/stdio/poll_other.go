//go:build !unix

package stdio

import "os"

// awaitInput reports that a file may be read, which blocks until there is input.
func awaitInput(_, _ *os.File) bool { return true }
