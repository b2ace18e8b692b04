package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"

	"go.etcd.io/bbolt"
)

// Upgrades convert a segment from one format to the next: the first from format 1 to 2, and so on. There is one fewer
// than there are formats. Each is one transaction, so that a segment is always in exactly one format.
//
// A format, once released, never changes: testdata has a capture of each, with a test that reads it.
var Upgrades = []func(tx *bbolt.Tx) error{forgetKey, addReading, nothingToDo}

// addReading is the upgrade from format 2: it adds the bucket for stored results.
func addReading(tx *bbolt.Tx) error {
	_, err := tx.CreateBucketIfNotExists(layout.BucketReading)
	return err
}

// nothingToDo is the upgrade from format 3, in which no part of an exchange is in a list.
func nothingToDo(*bbolt.Tx) error { return nil }

// UpgradeSegment upgrades a segment, which load found to be of an earlier format, to the current one. Segments continue
// in a new file from segmentSize on; path is the capture's.
func UpgradeSegment(s *segments.Segment, path string, segmentSize int64) error {
	if s.DB.IsReadOnly() {
		if err := s.DB.Close(); err != nil {
			return err
		}
		if err := OpenExclusive(s, path, segmentSize); err != nil {
			return err
		}
	}
	secret, err := s.KeyInside()
	if err != nil {
		return err
	}
	if err := Upgrade(s.DB, Upgrades); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	if len(secret) > 0 {
		if err := s.Erase(secret); err != nil {
			return err
		}
	}
	_, err = s.Load()
	return err
}

// SumAgain brings the sums in the state up to date once the meta bucket has changed, if there are any.
func SumAgain(tx *bbolt.Tx) error {
	st, err := layout.ReadState(tx)
	if err != nil || !st.Summed {
		return err
	}
	return st.Put(tx)
}

// Upgrade runs the steps that a segment needs.
func Upgrade(db *segments.DB, steps []func(tx *bbolt.Tx) error) error {
	for {
		done := false
		err := db.Update(func(tx *bbolt.Tx) error {
			d := layout.Decoder{B: tx.Bucket(layout.BucketMeta).Get(layout.MetaFormat)}
			format := d.Number()
			if d.Err != nil || format == 0 || format > uint64(len(steps)) {
				done = true
				return d.Err
			}
			if err := steps[format-1](tx); err != nil {
				return fmt.Errorf("upgrade from format %d: %w", format, err)
			}
			if err := tx.Bucket(layout.BucketMeta).Put(layout.MetaFormat, binary.AppendUvarint(nil, format+1)); err != nil {
				return err
			}
			return SumAgain(tx)
		})
		if err != nil || done {
			return err
		}
	}
}

// OpenExclusive opens a segment for writing, or creates it. If readers have it, it waits a moment, since they release
// it soon, but it does not wait for a recorder that answers. path is the capture's.
func OpenExclusive(s *segments.Segment, path string, segmentSize int64) error {
	for looks := 1; ; looks++ {
		err := s.TryExclusive(segmentSize)
		if !errors.Is(err, segments.ErrLocked) {
			return err
		}
		if h, askErr := AskHolder(path); askErr == nil {
			return fmt.Errorf("%w: %s records into it; stop that recorder, or record into another file", segments.ErrLocked, h)
		}
		if looks == startLooks {
			return HeldBy(path, errors.New("nothing listens there"))
		}
		time.Sleep(heldPause)
	}
}

// forgetKey is the upgrade from format 1: it removes the key that hid secrets. The placeholders of these secrets name
// no key.
func forgetKey(tx *bbolt.Tx) error {
	return errors.Join(tx.Bucket(layout.BucketMeta).Delete(layout.MetaKey), tx.Bucket(layout.BucketMeta).Put(layout.MetaKeys, layout.Nothing))
}
