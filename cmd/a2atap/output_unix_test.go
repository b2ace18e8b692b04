//go:build unix

package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

// A product goes into a pipe that is there; it does not take its place, nor that of /dev/null.
func TestOutputIntoPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(name, 0o600))
	// Open both ends, so that neither opening nor writing waits for another process.
	pipe, err := os.OpenFile(name, os.O_RDWR, 0)
	must.Do(t, err)
	defer pipe.Close()
	err = cli.WriteFile(name, func(w io.Writer) error {
		_, err := io.WriteString(w, "report")
		return err
	})
	must.Do(t, err)
	if info, err := os.Stat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Fatalf("the pipe was replaced: %v, %v", info.Mode(), err)
	}
	got := make([]byte, len("report"))
	if _, err := io.ReadFull(pipe, got); err != nil || string(got) != "report" {
		t.Errorf("read %q from the pipe, error %v", got, err)
	}
}
