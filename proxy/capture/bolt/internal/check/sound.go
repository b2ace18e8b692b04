package check

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"unsafe"

	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"

	"go.etcd.io/bbolt"
)

// Sizes of the pieces that Sound reads.
const (
	SoundPiece   = 8 << 20  // for which it locks the files
	soundRead    = 1 << 20  // at once, or a longer block
	soundGap     = 64 << 10 // that is read along rather than left out
	soundRows    = 50_000   // for which it locks the files
	soundReaders = 2
)

// Sound checks all blocks of a capture, and all entries that name them. It calls files for each portion of about
// SoundPiece bytes, with a function that gets the segments.
func Sound(ctx context.Context, files func(look func(segments.Set) error) error,
	progress func(done, total uint64),
) error {
	w := soundness{next: 1}
	for !w.blocksDone {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := files(w.blocks); err != nil {
			return err
		}
		progress(min(w.next-1, w.last), w.last)
	}
	for !w.namesDone {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := files(w.names); err != nil {
			return err
		}
	}
	return nil
}

// A soundness is Sound's progress through the files.
type soundness struct {
	next, last uint64   // the next arrival number to look for, and the last
	firsts     []uint64 // of the blocks that were found, in order
	blocksDone bool

	segment   int // whose names are looked at
	bucket    int // of namings
	key       []byte
	namesDone bool
}

// A span is where a block is in a file.
type span struct {
	first      uint64
	at, length int64
}

// blocks looks at the next blocks of one segment.
func (w *soundness) blocks(set segments.Set) error {
	st, err := set.State()
	if err != nil {
		return err
	}
	if w.last = st.Arrival; w.next > w.last {
		w.blocksDone = true
		return nil
	}
	i := set.Holding(w.next)
	s, upTo := set[i], st.Arrival
	if i < len(set)-1 {
		upTo = set[i+1].Meta.Arrivals
	}
	var firsts []uint64
	var spans []span
	var tail layout.Block // the last block, if it is among them
	err = s.View(func(tx *bbolt.Tx) error {
		base := s.DB.Info().Data
		c := tx.Bucket(layout.BucketBlocks).Cursor()
		size := int64(0)
		k, v := c.Seek(layout.Number64(w.next))
		for ; k != nil && size < SoundPiece; k, v = c.Next() {
			if len(k) != 8 || len(v) < layout.BlockHeader {
				return fmt.Errorf("the block at %x has %d bytes: %w", k, len(v), layout.ErrDamaged)
			}
			first := binary.BigEndian.Uint64(k)
			firsts = append(firsts, first)
			size += int64(len(v))
			at := int64(uintptr(unsafe.Pointer(unsafe.SliceData(v))) - base)
			if at >= 0 && at+int64(len(v)) <= tx.Size() {
				spans = append(spans, span{first, at, int64(len(v))})
				continue
			}
			// It is a copy, as from a small bucket.
			if _, err := (layout.Block{First: first, Value: v}).Packed(); err != nil {
				return fmt.Errorf("read the block at arrival %d: %w", first, err)
			}
		}
		if k == nil && len(firsts) > 0 {
			tail = segments.CopyBlock(c.Last())
		}
		return nil
	})
	if err != nil {
		return err
	}
	begins := w.next == s.Meta.Arrivals+1
	if len(firsts) == 0 || begins && firsts[0] != w.next {
		return layout.ErrNoBlock(w.next)
	}
	if err := verifySpans(s.Read, spans); err != nil {
		return err
	}
	w.firsts = append(w.firsts, firsts...)
	w.next = firsts[len(firsts)-1] + 1
	if tail.Value == nil {
		return nil
	}
	last, err := tail.Last()
	if err != nil {
		return err
	}
	if last < upTo {
		return layout.ErrNoBlock(last + 1)
	}
	if last > upTo {
		return fmt.Errorf("the block at arrival %d has steps up to %d, but the last step is %d: %w", tail.First, last, upTo,
			layout.ErrDamaged)
	}
	w.next = upTo + 1
	return nil
}

// verifySpans compares blocks with their checksums, on two processors. It returns the first damaged block's error.
func verifySpans(f io.ReaderAt, spans []span) error {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	var mu sync.Mutex
	rest := spans
	take := func() []span {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for n < len(rest) && (n == 0 || rest[n].at-rest[n-1].at-rest[n-1].length <= soundGap &&
			rest[n].at+rest[n].length-rest[0].at <= soundRead) {
			n++
		}
		some := rest[:n]
		rest = rest[n:]
		return some
	}
	var wrong error
	worst := uint64(0)
	var readers sync.WaitGroup
	for range soundReaders {
		readers.Go(func() {
			var room []byte
			for some := take(); len(some) > 0; some = take() {
				at, end := some[0].at, some[len(some)-1].at+some[len(some)-1].length
				if int64(cap(room)) < end-at {
					room = make([]byte, max(end-at, soundRead))
				}
				data := room[:end-at]
				_, err := f.ReadAt(data, at)
				for _, sp := range some {
					blockErr := err
					if err == nil {
						value := data[sp.at-at:][:sp.length]
						_, blockErr = layout.Block{First: sp.first, Value: value}.Packed()
					}
					if blockErr == nil {
						continue
					}
					mu.Lock()
					if wrong == nil || sp.first < worst {
						worst, wrong = sp.first, fmt.Errorf("read the block at arrival %d: %w", sp.first, blockErr)
					}
					mu.Unlock()
				}
			}
		})
	}
	readers.Wait()
	return wrong
}

// namings are the buckets that name blocks, and how: named is called with each block of an entry. If entries can move
// during the check, from behind a key to before it, the later range is checked first.
var namings = []struct {
	bucket []byte
	moves  []byte // nil if nothing does
	blocks func(k, v []byte, named func(first uint64))
}{
	{layout.BucketExchanges, nil, func(_, v []byte, named func(uint64)) {
		if len(v) > 0 {
			first, _ := binary.Uvarint(v[1:])
			named(first)
		}
	}},
	{layout.BucketParts, layout.FirstPartList, func(k, v []byte, named func(uint64)) {
		if layout.IsPartList(k) {
			for i := range layout.PartList(v).Len() {
				named(layout.PartList(v).At(i).Block)
			}
		} else if len(k) == 16 {
			named(binary.BigEndian.Uint64(k[8:]))
		}
	}},
}

// names checks that the blocks that the next rows or parts name exist.
func (w *soundness) names(set segments.Set) error {
	if w.segment >= len(set) {
		w.namesDone = true
		return nil
	}
	done := false
	err := set[w.segment].View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(namings[w.bucket].bucket).Cursor()
		n := 0
		known := uint64(0) // which was found last
		var missing error
		named := func(first uint64) {
			if first == known || first == 0 || first > w.last || missing != nil {
				return
			}
			if _, there := slices.BinarySearch(w.firsts, first); !there {
				missing = layout.ErrNoBlock(first)
			}
			known = first
		}
		from := namings[w.bucket]
		if w.key == nil && from.moves != nil {
			for k, v := c.Seek(from.moves); k != nil && missing == nil; k, v = c.Next() {
				from.blocks(k, v, named)
			}
		}
		k, v := c.Seek(w.key)
		for ; k != nil && n < soundRows && missing == nil; k, v = c.Next() {
			n++
			from.blocks(k, v, named)
		}
		w.key, done = bytes.Clone(k), k == nil
		return missing
	})
	if done {
		if w.bucket++; w.bucket == len(namings) {
			w.bucket, w.segment = 0, w.segment+1
		}
	}
	return err
}
