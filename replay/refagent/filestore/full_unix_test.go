//go:build unix

package filestore_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// If the file cannot grow, Put fails, and existing values stay. Once there is room again, Put works again.
func TestFullDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tasks.db")
	f := open(t, name)
	put(t, f, "spec", "a", "1")
	info := must.Get(os.Stat(name))(t)
	signal.Ignore(syscall.SIGXFSZ) // it would end the process
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit := before
	limit.Cur = uint64(info.Size())
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	large := []byte(strings.Repeat("x", 1<<20))
	failure := f.Put("spec", "b", large)
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))
	expect.ErrorHas(t, "", "file too large", failure)
	expect.Equal(t, "", "a=1", all(t, f, "spec"))
	put(t, f, "spec", "b", string(large))
}
