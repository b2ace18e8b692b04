package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// forgetKey is the upgrade from format 1: the key with which secrets were hidden is no longer in the capture. What was
// hidden with it has placeholders that name no key.
func forgetKey(tx *bbolt.Tx) error {
	return errors.Join(tx.Bucket(bucketMeta).Delete(metaKey), tx.Bucket(bucketMeta).Put(metaKeys, nothing))
}

// keyInside returns the key that a segment of format 1 holds, or nil.
func (s *segment) keyInside() (key []byte, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		key = bytes.Clone(tx.Bucket(bucketMeta).Get(metaKey))
		return nil
	})
	return key, err
}

// erase overwrites what is left of a deleted value. A database writes no page in its place, so old copies of it stay in
// the file, in pages that are free, until those are used again. Nothing else is in the database while it works.
func (s *segment) erase(value []byte) error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("erase the key in %s: %w", s.path, explain(err))
	}
	page := make([]byte, s.db.Info().PageSize)
	err = s.view(func(tx *bbolt.Tx) error {
		for id := 0; ; id++ {
			info, err := tx.Page(id)
			if err != nil || info == nil { // that was the last one
				return err
			}
			if info.Type != "free" {
				continue
			}
			at := int64(id) * int64(len(page))
			if _, err := f.ReadAt(page, at); err != nil {
				return err
			}
			if !bytes.Contains(page, value) {
				continue
			}
			if _, err := f.WriteAt(make([]byte, len(page)), at); err != nil {
				return err
			}
		}
	})
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("erase the key in %s: %w", s.path, err)
	}
	return nil
}
