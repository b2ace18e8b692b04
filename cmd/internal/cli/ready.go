package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// RemoveReady removes the ready file of an earlier run, so that its addresses are not taken for those of this one. It
// is called before a command listens. An empty name does nothing.
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
		return fmt.Errorf("remove the ready file %s of an earlier run: %w; choose another name", name, Cause(err))
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
