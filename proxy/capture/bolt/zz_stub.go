package bolt

import (
	"context"
	"errors"
	"iter"

	"a2atap/proxy/capture"
)

var errStub = errors.New("stub")

func (r *Reader) Kept(ctx context.Context, keys ...[]byte) ([][]byte, error) { return nil, errStub }
func (r *Reader) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[capture.Entry, error] {
	return func(yield func(capture.Entry, error) bool) {}
}
func (r *Reader) Mark(ctx context.Context) ([]byte, error) { return nil, errStub }
func (r *Reader) Sound(ctx context.Context, f func(done, total uint64)) error { return nil }
func (r *Reader) Replace(ctx context.Context, f func(put func(...capture.Entry) error) error) error {
	return errStub
}
func (s *Store) Keep(entries ...capture.Entry) error { return nil }
func (r *Reader) Amend(ctx context.Context, entries ...capture.Entry) error { return nil }
func (s *Store) KeepFailed() error { return nil }

type ShelfFile struct{ capture.MemoryShelf }

func (f *ShelfFile) Close() error { return nil }
func OpenShelf(path string) (*ShelfFile, error) { return nil, errStub }
func WriteShelf(path string, f func(put func(...capture.Entry) error) error) error { return errStub }
