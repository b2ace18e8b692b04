//go:build unix

package notes

import (
	"path/filepath"
	"syscall"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Reading a FIFO would wait for a writer that never comes.
func TestReadRefusesAFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.notes")
	must.Do(t, syscall.Mkfifo(path, 0o600))
	expect.ErrorHas(t, "a FIFO is read as notes", path+" is not a regular file", expect.Err(Read(path)))
}
