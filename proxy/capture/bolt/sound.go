package bolt

import (
	"context"
	"errors"
)

// Sound reads the stored bytes of every block and compares them with their checksums, without unpacking them. It is how
// to know, far sooner than by reading the steps, that they still are all there: blocks are in order of arrival, each
// segment begins where the one before ends, the last block reaches the last arrival number, and no block is missing
// that an exchange has steps in. A missing block that has steps of no exchange only, of losses, is not noticed. While a
// recorder has the capture, all blocks are unpacked instead.
//
// progress, which may be nil, is called now and then with the arrival number it has come to, and the last. Errors are
// those of reading; damage wraps ErrDamaged.
func (r *Reader) Sound(ctx context.Context, progress func(done, total uint64)) error {
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	var files *remoteAccess
	switch a := r.access.(type) {
	case *remoteAccess:
		files = a
	case followerAccess:
		if open, _ := a.read(func(segmentSet, bool) error { return nil }); !open {
			files = a.remote
		}
	}
	if files != nil {
		part := func(look func(segmentSet) error) error {
			return files.files(func(set segmentSet) error {
				files.opened.count(soundPiece)
				return look(set)
			})
		}
		if err := soundFiles(ctx, part, progress); !errors.Is(err, errLocked) {
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
		return errNoBlock(done + 1)
	}
	return nil
}
