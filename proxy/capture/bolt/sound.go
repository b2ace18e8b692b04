package bolt

import (
	"context"
	"errors"

	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// Sound reads the stored bytes of every block and compares them with their checksums, without unpacking them. It is
// much faster than reading the steps, and verifies that all are still there: blocks are in order of arrival, each
// segment begins where the previous one ends, the last block reaches the last arrival number, and no block with steps
// of an exchange is missing. It does not notice a missing block that contains only losses. While a recorder has the
// capture, all blocks are unpacked instead.
//
// progress, which may be nil, is called from time to time with the current and the last arrival number. Errors come
// from reading; damage wraps ErrDamaged.
func (r *Reader) Sound(ctx context.Context, progress func(done, total uint64)) error {
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	var files *remote.Capture
	switch a := r.access.(type) {
	case *remote.Capture:
		files = a
	case followerAccess:
		if open, _ := a.read(func(segments.Set, bool) error { return nil }); !open {
			files = a.remote
		}
	}
	if files != nil {
		part := func(look func(segments.Set) error) error {
			return files.Files(func(set segments.Set) error {
				files.Opened.Count(check.SoundPiece)
				return look(set)
			})
		}
		if err := check.Sound(ctx, part, progress); !errors.Is(err, segments.ErrLocked) {
			return err
		}
	}
	info, err := r.Info(ctx)
	if err != nil {
		return err
	}
	done := uint64(0)
	for b, err := range r.Blocks(ctx, 1) {
		if err != nil {
			return err
		}
		done = b.Last
		progress(done, max(done, info.Arrivals))
	}
	if done < info.Arrivals {
		return layout.ErrNoBlock(done + 1)
	}
	return nil
}
