package notes

import (
	"bytes"
	"cmp"
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

// maxFile bounds a file of notes, in bytes: far more than anyone writes by hand.
const maxFile = 16 << 20

// Read reads the notes on a capture from their file. Where there is no file, there are no notes.
func Read(path string) (*Notes, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parse(data), nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() { // reading a FIFO would wait for its writer
		err = fmt.Errorf("%s is not a regular file; remove it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the notes: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the notes: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the notes: %w", err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("read the notes: %s is larger than %d MiB, so it is not a file of notes", path, maxFile>>20)
	}
	return data, nil
}

// A pending change is what is to become of the note on one exchange. It is kept rather than the note that came of it, so
// that it can be made to what others have noted of the same exchange since.
type pending struct {
	seq    uint64
	id     uuid.UUID
	change func(Note) Note
}

// after returns the notes with some changes made to them, one after the other.
func (n *Notes) after(changes ...pending) *Notes {
	var changed []Note
	at := make(map[key]int)
	for _, c := range changes {
		of := keyOf(c.seq, c.id)
		i, again := at[of]
		if !again {
			i, at[of] = len(changed), len(changed)
			changed = append(changed, n.Of(c.seq, c.id))
		}
		note := c.change(changed[i])
		note.Seq, note.ID = c.seq, c.id
		changed[i] = note
	}
	return n.With(changed...)
}

// update reads the file, applies changes, and replaces it atomically, readable only by its owner. If another process
// wrote it meanwhile, update starts again, so that no notes are lost, except in the moment between the last check and
// the renaming.
func update(path string, changes []pending) (*Notes, error) {
	for {
		file, err := behindLinks(path)
		if err != nil {
			return nil, fmt.Errorf("write the notes: %w", err)
		}
		before, err := readFile(file)
		if err != nil {
			return nil, err
		}
		now := parse(before).after(changes...)
		written, err := replace(file, before, now.Format())
		if err != nil {
			return nil, fmt.Errorf("write the notes: %w", err)
		}
		if written {
			return now, nil
		}
	}
}

// behindLinks returns the file that a path leads to, whether it is there or not: what is renamed to a symbolic link
// takes its place.
func behindLinks(path string) (string, error) {
	for {
		file, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		dir, name := filepath.Split(path) // not Dir, which takes ".." behind a link for the folder that the link is in
		if dir, err = filepath.EvalSymlinks(cmp.Or(dir, ".")); err != nil {
			return "", err
		}
		path = filepath.Join(dir, name)
		to, err := os.Readlink(path)
		if err != nil { // no link: there is no such file yet
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = dir + string(filepath.Separator) + to
		}
		path = to
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

// A Keeper keeps the notes on one capture: in a file, and in memory while the file cannot be written. It is safe for
// concurrent use.
type Keeper struct {
	path string

	now atomic.Pointer[Notes]

	mu      sync.Mutex // held while the file is read and written
	unsaved []pending
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
		now = now.after(k.unsaved...)
	}
	k.now.Store(now)
	return now, nil
}

// Now returns the notes as they are. It waits for nothing.
func (k *Keeper) Now() *Notes { return k.now.Load() }

// Change changes the note on one exchange and writes the file, with what another process has written into it since, also
// of that exchange. If that fails, it returns an error and keeps the change all the same; the next one tries again. What
// is given is called for each try, with the note as the file has it then.
func (k *Keeper) Change(seq uint64, id uuid.UUID, change func(Note) Note) (*Notes, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := pending{seq, id, change}
	if k.path == "" {
		now := k.now.Load().after(c)
		k.now.Store(now)
		return now, nil
	}
	k.unsaved = append(k.unsaved, c)
	now, err := update(k.path, k.unsaved)
	if err != nil {
		now = k.now.Load().after(c)
	} else {
		k.unsaved = nil
	}
	k.now.Store(now)
	return now, err
}
