package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"a2atap/proxy/capture/bolt/internal/pages"
)

// WatchPause is how often the recorder checks whether its files are still in place.
const WatchPause = 400 * time.Millisecond

// A Watch detects that a file being written was deleted, moved away or replaced, so that new data would be invisible to
// readers.
type Watch struct {
	last    time.Time
	Err     error // what it saw
	Deleted bool  // deleted: recorded data is lost with it
}

// Due makes the next look a look indeed.
func (w *Watch) Due() { w.last = time.Time{} }

// Look returns the problem with the first or the last file of a capture, if any. It checks from time to time, and
// immediately after a problem, since the file may have been brought back.
func (w *Watch) Look(set Set) error {
	now := time.Now()
	if w.Err == nil && now.Sub(w.last) < WatchPause/2 {
		return nil
	}
	w.last, w.Err = now, nil
	for i, s := range set {
		if i > 0 && i < len(set)-1 || s.File == nil {
			continue
		}
		if w.Err = w.lookAt(s); w.Err != nil {
			break
		}
	}
	return w.Err
}

func (w *Watch) lookAt(s *Segment) error {
	own, err := s.File.Stat()
	if err != nil {
		return fmt.Errorf("examine %s, which is being recorded: %w", s.Path, pages.Explain(err))
	}
	there, err := os.Lstat(s.Path)
	if err == nil && there.Mode()&fs.ModeSymlink != 0 {
		there, err = os.Stat(s.Path)
	}
	w.Deleted = links(own) == 0
	switch {
	case err == nil && os.SameFile(own, there):
		return nil
	case w.Deleted:
		return fmt.Errorf("%s was deleted while it was recorded, together with the recorded traffic; end the recording and "+
			"start a new one", s.Path)
	case err == nil:
		return fmt.Errorf("%s was replaced by another file while it was recorded; move it back to continue", s.Path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was moved away while it was recorded; move it back to continue", s.Path)
	}
	return fmt.Errorf("examine %s, which is being recorded: %w", s.Path, pages.Explain(err))
}
