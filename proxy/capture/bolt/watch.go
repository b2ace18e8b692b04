package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// watchPause is how often the recorder looks whether its files are still where they were.
const watchPause = 400 * time.Millisecond

// A watch sees that a file which is being written was deleted, moved away or replaced: what is written to it then is
// not where anybody looks for it.
type watch struct {
	last    time.Time
	err     error // what it saw
	deleted bool  // deleted: what was recorded is lost with it
}

// due makes the next look a look indeed.
func (w *watch) due() { w.last = time.Time{} }

// look returns what is wrong with the first and the last file of a capture. It looks now and then, and at once where
// something was wrong, since the file may have been brought back.
func (w *watch) look(set segmentSet) error {
	now := time.Now()
	if w.err == nil && now.Sub(w.last) < watchPause/2 {
		return nil
	}
	w.last, w.err = now, nil
	for i, s := range set {
		if i > 0 && i < len(set)-1 || s.file == nil {
			continue
		}
		if w.err = w.lookAt(s); w.err != nil {
			break
		}
	}
	return w.err
}

func (w *watch) lookAt(s *segment) error {
	own, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("look at %s, which is being recorded: %w", s.path, explain(err))
	}
	there, err := os.Lstat(s.path)
	if err == nil && there.Mode()&fs.ModeSymlink != 0 {
		there, err = os.Stat(s.path)
	}
	w.deleted = links(own) == 0
	switch {
	case err == nil && os.SameFile(own, there):
		return nil
	case w.deleted:
		return fmt.Errorf("%s was deleted while it was recorded, and what was recorded with it; end the recording and "+
			"begin another", s.path)
	case err == nil:
		return fmt.Errorf("%s was replaced by another file while it was recorded; move it back to go on", s.path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was moved away while it was recorded; move it back to go on", s.path)
	}
	return fmt.Errorf("look at %s, which is being recorded: %w", s.path, explain(err))
}
