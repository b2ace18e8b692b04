package bolt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// A Reader reads a capture that is finished, or that this or another process is recording. It implements capture.Source
// and capture.Index.
//
// An exchange without an end in the capture is open while it is recorded, and if the recorder ended normally; if the
// recorder was killed, the exchange is interrupted.
//
// While no recorder has the capture, each call locks the files, copies a page and unlocks them, so that a Reader never
// keeps a recorder from starting. The files stay open between calls; a call notices if they were written or replaced,
// and opens them again. While a recorder has the capture, the Reader uses its socket. It switches automatically, even
// in the middle of an iteration, without affecting the result.
//
// The caller owns what a Reader yields. Bytes of steps from Steps are parts of a block of about 128 KiB, which stays in
// memory while any of them is in use; an Exchange has separate copies.
type Reader struct {
	access remote.Access
	close  func() error
}

var (
	_ capture.Source = (*Reader)(nil)
	_ capture.Index  = (*Reader)(nil)
)

// Read returns a reader of the capture at path and of all its segments. Errors wrap capture.ErrFormat if the file is no
// capture, and capture.ErrFuture if a later version wrote it. If another program holds the file and does not answer,
// the error names that program, as far as known.
func Read(path string) (*Reader, error) {
	o := remote.New(path)
	if _, err := o.Info(context.Background()); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Reader{access: o, close: o.Close}, nil
}

// Close ends the reading. Calls under way fail.
func (r *Reader) Close() error { return r.close() }

// Info describes the current capture. The cost does not depend on its size.
func (r *Reader) Info(ctx context.Context) (capture.Info, error) { return r.access.Info(ctx) }

// Wait implements capture.Source. A capture without a recorder has ended.
func (r *Reader) Wait(ctx context.Context, from uint64) error { return r.access.Wait(ctx, from) }

// resumePause is how often a capture that has ended is looked at.
const resumePause = 250 * time.Millisecond

// Resumed waits, after Wait has reported the end of the recording, until the recording continues. It returns nil when a
// recorder has the capture again, or when a step with arrival number from or later exists, otherwise the context's
// error. The file may be temporarily unreadable.
func (r *Reader) Resumed(ctx context.Context, from uint64) error {
	for {
		info, err := r.access.Info(ctx)
		if ctx.Err() == nil && err == nil && (info.Live || info.Arrivals >= from) {
			return nil
		}
		if errors.Is(err, remote.ErrReaderClosed) {
			return err
		}
		select {
		case <-time.After(resumePause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Steps implements capture.Source. It ends at the last step that existed when it began.
func (r *Reader) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		var end uint64
		known := make(layout.Names)
		for next := max(from, 1); end == 0 || next <= end; {
			if err := ctx.Err(); err != nil {
				yield(capture.Step{}, err)
				return
			}
			found, last, err := r.access.Blocks(ctx, next, remote.PageBytes)
			if err != nil {
				yield(capture.Step{}, err)
				return
			}
			if end == 0 {
				end = last
			}
			if len(found) == 0 {
				if next <= end {
					yield(capture.Step{}, layout.ErrNoBlock(next))
				}
				return
			}
			for _, b := range found {
				if err := ctx.Err(); err != nil {
					yield(capture.Step{}, err)
					return
				}
				var more bool
				if next, more = yieldBlock(b, next, end, known, yield); !more {
					return
				}
			}
		}
	}
}

// yieldBlock yields the steps of a block with arrival numbers from..end. It returns the number after the last step and
// whether to continue. It shares names with the known ones.
func yieldBlock(
	b layout.Block, from, end uint64, known layout.Names, yield func(capture.Step, error) bool,
) (next uint64, more bool) {
	if b.Steps != nil {
		return yieldSteps(b.Steps, from, end, yield)
	}
	raw, err := b.Unseal()
	if err == nil && b.First > from {
		err = fmt.Errorf("the block with arrival number %d is missing: %w", from, layout.ErrDamaged)
	}
	if err != nil {
		yield(capture.Step{}, err)
		return 0, false
	}
	arrival := b.First
	for ; len(raw) > 0; arrival++ {
		var one []byte
		var s capture.Step
		if one, raw, err = layout.Split(raw); err == nil && arrival >= from {
			d := layout.Decoder{B: one, Names: known}
			s, err = d.Step()
		}
		if err != nil {
			yield(capture.Step{}, fmt.Errorf("read the step at arrival %d: %w", arrival, err))
			return 0, false
		}
		if arrival < from {
			continue
		}
		if arrival > end {
			return arrival, false
		}
		s.Arrival = arrival
		if !yield(s, nil) {
			return 0, false
		}
	}
	if arrival <= from {
		yield(capture.Step{}, fmt.Errorf("the block with arrival number %d is missing: %w", from, layout.ErrDamaged))
		return 0, false
	}
	return arrival, true
}

// yieldSteps is yieldBlock for steps that need not be read.
func yieldSteps(steps []capture.Step, from, end uint64, yield func(capture.Step, error) bool) (next uint64, more bool) {
	for _, s := range steps {
		switch {
		case s.Arrival < from:
		case s.Arrival > end:
			return s.Arrival, false
		case !yield(s, nil):
			return 0, false
		}
	}
	return steps[len(steps)-1].Arrival + 1, true
}

// Exchanges implements capture.Source. It ends at the last exchange that existed when it began.
func (r *Reader) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return r.exchanges(ctx, from, &loader{access: r.access})
}

// Ends implements capture.Source. Blocks between the ends of a stream are not read.
func (r *Reader) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	return r.exchanges(ctx, from, &loader{access: r.access, shortened: true, ends: n})
}

func (r *Reader) exchanges(ctx context.Context, from uint64, l *loader) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		var end uint64
		// The first pages are small: who wants fifty exchanges does not pay for hundreds.
		limit := remote.PageExchanges / 8
		for next := max(from, 1); end == 0 || next <= end; limit = min(2*limit, remote.PageExchanges) {
			at, err := r.locate(ctx, next, limit)
			if err != nil {
				yield(nil, err)
				return
			}
			if end == 0 {
				end = at.Last
			}
			for i, p := range at.Found {
				if p.Seq > end {
					return
				}
				x, err := l.exchange(ctx, at.Found[i:], at.Crashed)
				if !yield(x, err) || err != nil {
					return
				}
				next = p.Seq + 1
			}
			if len(at.Found) == 0 {
				return
			}
		}
	}
}

// locate asks for a page of exchanges, unless the context has ended.
func (r *Reader) locate(ctx context.Context, next uint64, limit int) (segments.Places, error) {
	if err := ctx.Err(); err != nil {
		return segments.Places{}, err
	}
	return r.access.Locate(ctx, next, limit)
}

// Exchange implements capture.Source.
func (r *Reader) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	return r.exchange(ctx, seq, &loader{access: r.access})
}

func (r *Reader) exchange(ctx context.Context, seq uint64, l *loader) (*capture.Exchange, error) {
	at, err := r.locate(ctx, seq, 1)
	if err != nil {
		return nil, err
	}
	if seq == 0 || len(at.Found) == 0 || at.Found[0].Seq != seq {
		return nil, fmt.Errorf("exchange %d of %d: %w", seq, at.Last, capture.ErrNotFound)
	}
	return l.exchange(ctx, at.Found[:1], at.Crashed)
}

// ExchangesWith yields the exchanges that have a key, from a sequence number on. The result is like that of Find and
// Exchange, but shared blocks are read only once.
func (r *Reader) ExchangesWith(ctx context.Context, key capture.Key, from uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		l := &loader{access: r.access}
		for seq, err := range r.Find(ctx, key, from) {
			var x *capture.Exchange
			if err == nil {
				x, err = r.exchange(ctx, seq, l)
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// StepsOf implements capture.Source. It holds a few blocks at a time.
func (r *Reader) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		at, err := r.locate(ctx, seq, 1)
		if err == nil && (seq == 0 || len(at.Found) == 0 || at.Found[0].Seq != seq) {
			err = fmt.Errorf("exchange %d of %d: %w", seq, at.Last, capture.ErrNotFound)
		}
		if err != nil {
			yield(capture.Step{}, err)
			return
		}
		l := loader{access: r.access}
		more := l.stepsOf(ctx, at.Found[:1], from, yield)
		if more && at.Crashed && !at.Found[0].Closed {
			yield(capture.Step{
				Seq: seq, Offset: capture.NotKnown, What: capture.Closed{Interrupted: true},
			}, nil)
		}
	}
}

// Find implements capture.Index.
func (r *Reader) Find(ctx context.Context, key capture.Key, from uint64) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		h := layout.HashKey(key)
		for next := from; ; {
			found, err := r.access.Find(ctx, h, next, remote.PageFound)
			if err != nil {
				yield(0, err)
				return
			}
			for _, seq := range found {
				if !yield(seq, nil) {
					return
				}
				next = seq + 1
			}
			if len(found) < remote.PageFound {
				return
			}
		}
	}
}

// Replace replaces all stored entries with those that write puts, for a capture that is not being recorded. It upgrades
// the files that it writes to the current format. Nothing else in the capture changes.
//
// The files are opened for writing, but locked only briefly: others may read while write computes. Each transaction
// stores a few MiB, so a killed process leaves a partial result: put the entry that marks completeness last. If write
// or storing fails, Replace removes all entries, if possible, and returns the error.
//
// In a capture of several files the entries go to the last one. Errors wrap ErrHeld if the capture is or was being
// recorded in the meantime, or is read for seconds without a pause; others, such as for a read-only file or a full
// disk, wrap their cause.
func (r *Reader) Replace(ctx context.Context, write func(put func(...capture.Entry) error) error) error {
	if err := r.access.Replace(ctx, false, write); err != nil {
		return fmt.Errorf("store the results: %w", err)
	}
	return nil
}

// Amend adds entries to the stored ones, for a capture whose recording has ended. Recorders use it to store derived
// values after closing their Store. It returns the same errors as Replace; existing entries stay.
func (r *Reader) Amend(ctx context.Context, entries ...capture.Entry) error {
	err := r.access.Replace(ctx, true, func(put func(...capture.Entry) error) error { return put(entries...) })
	if err != nil {
		return fmt.Errorf("store the results: %w", err)
	}
	return nil
}
