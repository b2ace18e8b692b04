package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// errMeanwhile means that a capture was written between two transactions of Replace.
var errMeanwhile = fmt.Errorf("%w: something was recorded into it in the meantime", segments.ErrLocked)

// ReplaceBytes is how much one transaction of Replace stores.
const ReplaceBytes = 4 << 20

// Replace implements Access.
func (o *Capture) Replace(
	ctx context.Context, amend bool, write func(put func(...capture.Entry) error) error,
) error {
	r := replacement{access: o, ctx: ctx, amend: amend}
	err := r.patiently(r.begin)
	if err == nil {
		if err = write(r.put); err == nil {
			err = r.flush()
		}
		if err != nil && !errors.Is(err, segments.ErrLocked) && !amend {
			r.ctx = context.WithoutCancel(ctx)
			err = errors.Join(err, r.update(func(tx *bbolt.Tx) error { return emptyReading(tx) }))
		}
	}
	return errors.Join(err, r.close())
}

// A replacement is a call of Replace.
type replacement struct {
	access *Capture
	ctx    context.Context
	amend  bool // what is kept already stays

	set     segments.Set // the first segment and the last, opened for writing
	hidden  []layout.KeptEntry
	entries []layout.KeptEntry // that wait for the next transaction
	size    int                // of them
}

// patiently retries fn for a while if the capture is held by readers. It does not wait for a recorder.
func (r *replacement) patiently(fn func() error) error {
	deadline := time.Now().Add(HeldTimeout)
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		err := fn()
		if !errors.Is(err, segments.ErrLocked) || errors.Is(err, errMeanwhile) {
			return err
		}
		if h, askErr := AskHolder(r.access.path); askErr == nil {
			return fmt.Errorf("%w: %s records into %s", segments.ErrLocked, h, r.access.path)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %w, which is still reading or does not answer", r.access.path, segments.ErrLocked)
		}
		select {
		case <-time.After(heldPause):
		case <-r.ctx.Done():
		}
	}
}

// A foundFile is what a segment was when it was read.
type foundFile struct {
	path  string
	metas [2][pages.PageMetaSize]byte
	kept  bool // it has entries
}

// begin opens the files for writing and empties them of entries. If it fails it leaves nothing open.
func (r *replacement) begin() (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, r.set.Close())
			r.set = nil
		}
	}()
	r.hidden = nil
	// First this opens the capture as a reader, which checks that it is complete and in order.
	var all []foundFile
	err = r.access.Files(func(set segments.Set) error {
		for _, s := range set {
			st, _, err := s.LookAt()
			if err != nil {
				return err
			}
			f := foundFile{path: s.Path, metas: st.Metas, kept: s.ReadingErr != nil}
			if s.ReadingErr == nil {
				err = s.Shelf(func(b *bbolt.Bucket) { f.kept = b != nil && !emptyBucket(b) })
			}
			if err != nil {
				return err
			}
			all = append(all, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, f := range all {
		if i > 0 && i < len(all)-1 {
			continue
		}
		s, err := openToChange(f)
		if err != nil {
			return err
		}
		r.set = append(r.set, s)
	}
	for _, s := range r.set {
		if s.Format < layout.FormatReading { // otherwise there is room for it, and earlier programs can still read the rest
			if err := UpgradeSegment(s, r.access.path, 0); err != nil {
				return err
			}
		}
	}
	if r.amend {
		return r.letGo()
	}
	if err := r.emptyEarlier(all); err != nil {
		return err
	}
	last := r.set.Last()
	err = segments.Change(last, func(tx *bbolt.Tx) error {
		if err := emptyReading(tx); err != nil {
			return err
		}
		return layout.PutEntries(tx.Bucket(layout.BucketReading), r.hidden, true)
	})
	if err != nil {
		return err
	}
	return r.letGo()
}

// openToChange opens a file for writing that must be as it was found.
func openToChange(f foundFile) (*segments.Segment, error) {
	s := &segments.Segment{Path: f.path}
	if err := pages.Inspect(s.Path); err != nil {
		return nil, err
	}
	err := s.TryExclusive(0)
	if err != nil {
		return nil, err
	}
	if s.Looked, _, err = s.LookAt(); err == nil && s.Looked.Metas != f.metas {
		err = segments.ErrLocked // another process has just written it
	}
	if err == nil {
		err = s.Verify(true)
	}
	if err == nil {
		_, err = s.Load()
	}
	if err != nil {
		return nil, errors.Join(err, s.DB.Close())
	}
	return s, nil
}

func emptyBucket(b *bbolt.Bucket) bool {
	k, _ := b.Cursor().First()
	return k == nil
}

// emptyReading throws away all entries of a segment.
func emptyReading(tx *bbolt.Tx) error {
	if tx.Bucket(layout.BucketReading) != nil {
		if err := tx.DeleteBucket(layout.BucketReading); err != nil {
			return err
		}
	}
	_, err := tx.CreateBucket(layout.BucketReading)
	return err
}

// emptyEarlier removes the entries of all segments but the last. Entries of a read-only segment must be hidden instead.
func (r *replacement) emptyEarlier(all []foundFile) error {
	for i, f := range all[:len(all)-1] {
		if !f.kept {
			continue
		}
		if i == 0 {
			if err := segments.Change(r.set[0], emptyReading); err != nil {
				return err
			}
			continue
		}
		s, err := openToChange(f)
		if err == nil {
			err = errors.Join(segments.Change(s, emptyReading), s.DB.Close())
		}
		if err != nil {
			if err := r.hide(f.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// hide notes the keys of a segment's entries.
func (r *replacement) hide(path string) error {
	s, err := segments.OpenToRead(path)
	if err != nil {
		return err
	}
	return errors.Join(s.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(layout.BucketReading)
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, _ []byte) error {
			key := append([]byte(nil), k...)
			r.hidden = append(r.hidden, layout.KeptEntry{Key: key, Sealed: layout.SealEntry(key, nil)})
			return nil
		})
	}), s.DB.Close())
}

// put adds entries, and stores the waiting ones when there are enough.
func (r *replacement) put(entries ...capture.Entry) error {
	sealed, size, err := layout.SealAll(entries)
	if err != nil {
		return err
	}
	r.entries = append(r.entries, sealed...)
	if r.size += size; r.size < ReplaceBytes {
		return r.ctx.Err()
	}
	return r.flush()
}

// flush stores the entries that wait.
func (r *replacement) flush() error {
	if len(r.entries) == 0 {
		return nil
	}
	err := r.update(func(tx *bbolt.Tx) error {
		return layout.PutEntries(tx.Bucket(layout.BucketReading), r.entries, len(r.hidden) > 0)
	})
	r.entries, r.size = r.entries[:0], 0
	return err
}

// update locks the files for one transaction in the last one.
func (r *replacement) update(fn func(tx *bbolt.Tx) error) error {
	if err := r.patiently(r.take); err != nil {
		return err
	}
	err := segments.Change(r.set.Last(), fn)
	return errors.Join(err, r.letGo())
}

// take locks the files, which must be unchanged.
func (r *replacement) take() error {
	if !segments.CanUnlock {
		return nil
	}
	for _, s := range r.set {
		segments.AwaitExclusive(s.File)
		err := segments.LockExclusive(s.File)
		if err == nil {
			var st segments.FileState
			var there bool
			if st, there, err = s.LookAt(); err == nil && (!there || st.Metas != s.Looked.Metas) {
				err = errMeanwhile
			}
		}
		if err != nil {
			return errors.Join(err, r.unlock())
		}
	}
	return nil
}

// letGo notes what the files are and unlocks them.
func (r *replacement) letGo() error {
	for _, s := range r.set {
		var err error
		if s.Looked, _, err = s.LookAt(); err != nil {
			return err
		}
	}
	return r.unlock()
}

func (r *replacement) unlock() error {
	var errs []error
	for _, s := range r.set {
		errs = append(errs, segments.Unlock(s.File))
	}
	return errors.Join(errs...)
}

func (r *replacement) close() error { return r.set.Close() }
