package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteAnyway calls write with a file, or with standard output for "-". If the file cannot be written, nothing is lost,
// since the capture has everything.
func WriteAnyway(e Env, output string, write func(io.Writer) error) error {
	if output == "-" {
		return write(e.Out)
	}
	return WriteFile(output, write)
}

// NotOver returns an error if an output would overwrite one of its inputs.
func NotOver(output string, inputs ...string) error {
	to, err := os.Stat(output)
	if err != nil || !to.Mode().IsRegular() {
		return nil
	}
	for _, name := range inputs {
		if from, err := os.Stat(name); err == nil && os.SameFile(from, to) {
			return Usage("-o %s would write over the capture itself; choose another name", output)
		}
	}
	return nil
}

// WriteOutput calls write with a file, which appears complete or not at all, or with standard output for "-". If the
// file cannot be written, the output goes to standard output instead, so that it is not lost.
func WriteOutput(e Env, name string, write func(io.Writer) error) error {
	if name == "-" || name == "" {
		return write(e.Out)
	}
	err := WriteFile(name, write)
	if err == nil {
		return nil
	}
	fmt.Fprintf(e.Err, "a2atap: %v; the output follows on standard output\n", err)
	if writeErr := write(e.Out); writeErr != nil {
		return writeErr
	}
	return &Exit{Code: ExitFailed}
}

// WriteFile writes a file, which appears complete or not at all. It never overwrites a capture.
func WriteFile(name string, write func(io.Writer) error) error {
	if err := NotAStream(name); err != nil {
		return err
	}
	switch info, err := os.Stat(name); {
	case err != nil:
	case info.IsDir():
		return fmt.Errorf("write %s: it is a directory; name a file in it", name)
	case !info.Mode().IsRegular():
		return writeDevice(name, write)
	case info.Size() > 0 && strings.HasSuffix(name, ".a2atap"):
		return fmt.Errorf("write %s: a capture of that name exists and would be lost; choose another name", name)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w; choose a directory that you can write to", name, Cause(err))
	}
	defer os.Remove(tmp.Name())
	if err := write(tmp); err != nil {
		tmp.Close()
		return fmt.Errorf("write %s: %w", name, Cause(err))
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, Cause(err))
	}
	if err := os.Rename(tmp.Name(), name); err != nil {
		return fmt.Errorf("write %s: %w", name, Cause(err))
	}
	return nil
}

// writeDevice writes to a path that is not a regular file, such as a pipe or /dev/null, and must not be replaced by
// one.
func writeDevice(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, Cause(err))
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Cause strips the operation and the path from an error of package os: the message names them already.
func Cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // only the outermost may be taken off
	case *os.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// RemoveReady removes the ready file of an earlier run, so that its addresses are not mistaken for this run's. Call it
// before the command listens. An empty name does nothing.
func RemoveReady(name string) error {
	if name == "" {
		return nil
	}
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return fmt.Errorf("write the ready file %s: it is a directory; choose another name", name)
	}
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the ready file %s from an earlier run: %w; choose another name", name, Cause(err))
	}
	return nil
}

// WriteReady writes a ready file by rename, so that a reader never sees a part of it. An empty name writes none.
func WriteReady(name, text string) error {
	if name == "" {
		return nil
	}
	tmp := name + ".tmp"
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the ready file %s: %w; choose a directory that you can write to", name, Cause(err))
	}
	if err := os.Rename(tmp, name); err != nil {
		return fmt.Errorf("write the ready file %s: %w", name, Cause(err))
	}
	return nil
}
