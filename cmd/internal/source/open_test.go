package source

import (
	"os"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/budget"
)

// endless is an infinite input, and counts how many bytes were read.
type endless int64

func (e *endless) Read(p []byte) (int, error) {
	*e += endless(len(p))
	return len(p), nil
}

// Endless standard input is read up to its bound. Nothing of it stays on the disk.
func TestEndlessInput(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	in := new(endless)
	src, err := Open(cli.Env{In: in}, "-")
	if err == nil {
		src.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "it has more than 512 MiB") || *in > budget.FileWhole+1<<20 {
		t.Errorf("got %v after %d bytes", err, *in)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
