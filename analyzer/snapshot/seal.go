package snapshot

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"iter"

	"a2atap/proxy/capture"
)

// sealSize is the length of the tag behind a sealed value.
const sealSize = 16

// A Seal binds the stored results of one capture to that capture and to a secret key, so that only a holder of the key
// can write accepted results. It may be used by several goroutines.
type Seal struct{ key []byte }

// NewSeal returns the seal of a capture, which is identified by bytes unique to it.
func NewSeal(secret, capture []byte) *Seal {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("results of a capture\x00"))
	mac.Write(capture)
	return &Seal{mac.Sum(nil)}
}

// Putting returns a function that seals entries and passes them to put. Entries without a value stay as they are.
func (s *Seal) Putting(put func(...capture.Entry) error) func(...capture.Entry) error {
	return func(entries ...capture.Entry) error {
		sealed := make([]capture.Entry, len(entries))
		for i, e := range entries {
			if sealed[i] = e; e.Value != nil {
				sealed[i].Value = append(e.Value[:len(e.Value):len(e.Value)], s.tag(e.Key, e.Value)...)
			}
		}
		return put(sealed...)
	}
}

// On returns a view of a shelf whose entries were sealed. An entry that was not sealed with this key for this capture
// is an error that wraps ErrSeal.
func (s *Seal) On(shelf capture.Shelf) capture.Shelf { return sealedShelf{shelf, s} }

func (s *Seal) tag(key, value []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte{byte(len(key))}) // keys have at most 64 bytes
	mac.Write(key)
	mac.Write(value)
	return mac.Sum(nil)[:sealSize]
}

// open returns a sealed value without its tag; nil for nil.
func (s *Seal) open(key, sealed []byte) ([]byte, error) {
	if sealed == nil {
		return nil, nil
	}
	n := len(sealed) - sealSize
	if n < 0 || !hmac.Equal(sealed[n:], s.tag(key, sealed[:n])) {
		return nil, ErrSeal
	}
	return sealed[:n:n], nil
}

// A sealedShelf reads sealed entries.
type sealedShelf struct {
	shelf capture.Shelf
	seal  *Seal
}

// Kept implements capture.Shelf.
func (s sealedShelf) Kept(ctx context.Context, keys ...[]byte) ([][]byte, error) {
	values, err := s.shelf.Kept(ctx, keys...)
	for i := 0; i < len(values) && err == nil; i++ {
		values[i], err = s.seal.open(keys[i], values[i])
	}
	return values, err
}

// KeptRange implements capture.Shelf.
func (s sealedShelf) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[capture.Entry, error] {
	return func(yield func(capture.Entry, error) bool) {
		for e, err := range s.shelf.KeptRange(ctx, from, to) {
			if err == nil {
				e.Value, err = s.seal.open(e.Key, e.Value)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
