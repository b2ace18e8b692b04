//go:build unix

package filestore_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Where the file can grow no more, putting fails, and what was there stays; when there is room again, it goes on.
func TestFullDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tasks.db")
	f := open(t, name)
	put(t, f, "spec", "a", "1")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // it would end the process
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = uint64(info.Size())
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	large := []byte(strings.Repeat("x", 1<<20))
	failure := f.Put("spec", "b", large)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if failure == nil || !strings.Contains(failure.Error(), "file too large") {
		t.Errorf("got %v", failure)
	}
	if got := all(t, f, "spec"); got != "a=1" {
		t.Errorf("got %s", got)
	}
	put(t, f, "spec", "b", string(large))
}
