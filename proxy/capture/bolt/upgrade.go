package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// upgrades bring a segment from one format to the next: the first from format 1 to 2, and so on. There is one less than
// there are formats. Each is one transaction, so that a segment is always in one format or in the other.
//
// A format, once released, is never changed: a capture of each stays in testdata, and a test that reads it.
var upgrades = []func(tx *bbolt.Tx) error{forgetKey, addReading}

// addReading is the upgrade from format 2: there is room for what is worked out from the capture.
func addReading(tx *bbolt.Tx) error {
	_, err := tx.CreateBucketIfNotExists(bucketReading)
	return err
}

// upgradeSegment brings a segment that load found to be of an earlier format to the present one. Segments are to be
// continued from segmentSize on; path is the capture's.
func upgradeSegment(s *segment, path string, segmentSize int64) error {
	if s.db.IsReadOnly() {
		if err := s.db.Close(); err != nil {
			return err
		}
		if err := openExclusive(s, path, segmentSize); err != nil {
			return err
		}
	}
	secret, err := s.keyInside()
	if err != nil {
		return err
	}
	if err := upgrade(s.db, upgrades); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if len(secret) > 0 {
		if err := s.erase(secret); err != nil {
			return err
		}
	}
	_, err = s.load()
	return err
}

// sumAgain brings the sums in the state up to date once the meta bucket has changed, if there are any.
func sumAgain(tx *bbolt.Tx) error {
	st, err := readState(tx)
	if err != nil || !st.summed {
		return err
	}
	return st.put(tx)
}

// upgrade runs the steps that a segment needs.
func upgrade(db *bbolt.DB, steps []func(tx *bbolt.Tx) error) error {
	for {
		done := false
		err := guard(func() error {
			return db.Update(func(tx *bbolt.Tx) error {
				d := decoder{b: tx.Bucket(bucketMeta).Get(metaFormat)}
				format := d.number()
				if d.err != nil || format == 0 || format > uint64(len(steps)) {
					done = true
					return d.err
				}
				if err := steps[format-1](tx); err != nil {
					return fmt.Errorf("upgrade from format %d: %w", format, err)
				}
				if err := tx.Bucket(bucketMeta).Put(metaFormat, binary.AppendUvarint(nil, format+1)); err != nil {
					return err
				}
				return sumAgain(tx)
			})
		})
		if err != nil || done {
			return err
		}
	}
}

// openExclusive opens a segment for writing, or creates it. When another process has it, it waits a moment, since
// readers let go of it soon; but not when a recorder answers. path is the capture's.
func openExclusive(s *segment, path string, segmentSize int64) error {
	deadline := time.Now().Add(heldTimeout)
	for {
		err := s.tryExclusive(segmentSize)
		if !errors.Is(err, errLocked) {
			return err
		}
		if h, askErr := askHolder(path); askErr == nil {
			return fmt.Errorf("%w: %s records into it; stop that, or record into another file", errLocked, h)
		}
		if time.Now().After(deadline) {
			return heldBy(path, errors.New("nobody listens there"))
		}
		time.Sleep(heldPause)
	}
}

// forgetKey is the upgrade from format 1: the key with which secrets were hidden is no longer in the capture. What was
// hidden with it has placeholders that name no key.
func forgetKey(tx *bbolt.Tx) error {
	return errors.Join(tx.Bucket(bucketMeta).Delete(metaKey), tx.Bucket(bucketMeta).Put(metaKeys, nothing))
}
