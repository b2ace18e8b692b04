package notes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// maxFile bounds a file of notes, in bytes: nobody writes that much by hand.
const maxFile = 16 << 20

// Read reads the notes on a capture from their file. Where there is no file, there are no notes.
func Read(path string) (*Notes, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(data), nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the notes: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the notes: %w", err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("read the notes: %s is larger than %d MiB; see what wrote it", path, maxFile>>20)
	}
	return data, nil
}

// update reads the file, puts notes into it, and writes it anew: complete or not at all, and for its owner alone. Where
// another process wrote it meanwhile, it begins again, so that neither loses what the other has noted, but for one that
// writes in the very moment between the last look and the renaming.
func update(path string, changed []Note) (*Notes, error) {
	for {
		before, err := readFile(path)
		if err != nil {
			return nil, err
		}
		now := Parse(before).With(changed...)
		written, err := replace(path, before, now.Format())
		if err != nil {
			return nil, fmt.Errorf("write the notes: %w", err)
		}
		if written {
			return now, nil
		}
	}
}

// replace writes a file unless it is no longer what it was before.
func replace(path string, before, now []byte) (written bool, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return false, err
	}
	defer func() {
		if !written {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(now)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return false, err
	}
	again, err := readFile(path)
	if err != nil || !bytes.Equal(before, again) {
		return false, err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return false, err
	}
	return true, nil
}

// A Keeper keeps the notes on one capture: in a file, and in memory as long as that cannot be written. It is safe for
// concurrent use.
type Keeper struct {
	path string

	now atomic.Pointer[Notes]

	mu      sync.Mutex // held while the file is read and written
	unsaved []Note
}

// NewKeeper returns a keeper of the notes in a file; without a path they are kept in memory alone. Load reads it.
func NewKeeper(path string) *Keeper { return &Keeper{path: path} }

// Path returns the file of the notes, or "".
func (k *Keeper) Path() string { return k.path }

// Load reads the file.
func (k *Keeper) Load() (*Notes, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.path == "" {
		return k.now.Load(), nil
	}
	now, err := Read(k.path)
	if err != nil {
		return k.now.Load(), err
	}
	if len(k.unsaved) > 0 {
		now = now.With(k.unsaved...)
	}
	k.now.Store(now)
	return now, nil
}

// Now returns the notes as they are. It waits for nothing.
func (k *Keeper) Now() *Notes { return k.now.Load() }

// Change changes the note on one exchange and writes the file, with what another process has written into it since. If
// that fails, it returns an error and keeps the note all the same; the next change tries again.
func (k *Keeper) Change(seq uint64, id uuid.UUID, change func(Note) Note) (*Notes, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now.Load()
	note := change(now.Of(seq, id))
	note.Seq, note.ID = seq, id
	now = now.With(note)
	var err error
	if k.path != "" {
		k.unsaved = append(k.unsaved, note)
		var written *Notes
		if written, err = update(k.path, k.unsaved); err == nil {
			now, k.unsaved = written, nil
		}
	}
	k.now.Store(now)
	return now, err
}
