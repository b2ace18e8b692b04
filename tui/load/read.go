package load

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"a2atap/proxy/capture"
)

// Each reads exchanges of a sorted list, in order, until the time end, but at least one. It calls f for each, with nil
// if the capture has no such exchange, and returns the remaining numbers. Of a stream it reads only the first and last
// ends events; all events if ends is 0.
func (l *Loader) Each(
	seqs []uint64, ends int, end time.Time, f func(uint64, *capture.Exchange),
) (left []uint64, err error) {
	for len(seqs) > 0 {
		n := neighbours(seqs)
		if seqs, err = l.span(seqs[:n], seqs[n:], ends, end, f); err != nil || l.Context.Err() != nil {
			return nil, errors.Join(err, l.Context.Err())
		}
		if time.Now().After(end) {
			return seqs, nil
		}
	}
	return nil, nil
}

// A glanced source can yield exchanges before it is Known which values to hide. It then omits everything that may have
// to be hidden.
type glanced interface {
	Glance(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error]
	Known() bool
	Learn(ctx context.Context)
}

// A glance is a source whose Ends do not wait.
type glance struct {
	capture.Source
	of glanced
}

// Ends implements capture.Source.
func (g glance) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	return g.of.Glance(ctx, from, n)
}

// Glance is Each for a first drawing. If the capture is not Known, the caller draws again once it is.
func (l *Loader) Glance(seqs []uint64, end time.Time, f func(uint64, *capture.Exchange)) (left []uint64, err error) {
	of := *l
	if src, is := l.Source.(glanced); is {
		of.Source = glance{l.Source, src}
	}
	return of.Each(seqs, EntryEvents, end, f)
}

// Known reports whether the values to hide in the capture are known.
func (l *Loader) Known() bool {
	src, is := l.Source.(glanced)
	return !is || src.Known()
}

// Learn finds the values to hide in the capture.
func (l *Loader) Learn() {
	if src, is := l.Source.(glanced); is {
		src.Learn(l.Context)
	}
}

// neighbours returns how many of the first numbers are consecutive, so that one iteration reads them.
func neighbours(seqs []uint64) int {
	n := 1
	for n < len(seqs) && seqs[n] == seqs[n-1]+1 {
		n++
	}
	return n
}

// span reads consecutive exchanges, and returns the remaining numbers.
func (l *Loader) span(
	seqs, rest []uint64, ends int, end time.Time, f func(uint64, *capture.Exchange),
) ([]uint64, error) {
	if len(seqs) == 1 && ends == 0 {
		x, err := l.Source.Exchange(l.Context, seqs[0])
		if err != nil && !errors.Is(err, capture.ErrNotFound) {
			return nil, err
		}
		f(seqs[0], x)
		return rest, nil
	}
	all := append(seqs[:len(seqs):len(seqs)], rest...)
	last, done := seqs[len(seqs)-1], 0
	exchanges := l.Source.Exchanges
	if ends > 0 {
		exchanges = func(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
			return l.Source.Ends(ctx, from, ends)
		}
	}
	for x, err := range exchanges(l.Context, seqs[0]) {
		if err != nil {
			return nil, err
		}
		for done < len(seqs) && seqs[done] < x.Seq {
			f(seqs[done], nil)
			done++
		}
		if done < len(seqs) && seqs[done] == x.Seq {
			f(x.Seq, x)
			done++
		}
		if x.Seq >= last {
			return rest, nil
		}
		if time.Now().After(end) {
			return all[done:], nil
		}
	}
	for ; done < len(seqs); done++ {
		f(seqs[done], nil)
	}
	return rest, nil
}

// whole yields the complete exchanges of a sorted list.
func (l *Loader) whole(ctx context.Context, seqs []uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for _, seq := range seqs {
			if x, err := l.Source.Exchange(ctx, seq); !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// Events calls f with the events of a stream, from the mark before first to last.
func (l *Loader) Events(
	ctx context.Context, seq uint64, s Stream, first, last int, f func(int, *capture.Event),
) error {
	page := s.Page(first)
	i := page.index
	for step, err := range l.Source.StepsOf(ctx, seq, page.Arrival) {
		if err != nil {
			return err
		}
		what, event := step.What.(capture.ResponseEvent)
		if !event {
			continue
		}
		what.Event.At = step.Offset
		s.read(&what.Event)
		f(i, &what.Event)
		if i++; i > last {
			return nil
		}
	}
	return fmt.Errorf("event %d of exchange %d is no longer in the capture", s.Number(i), seq)
}

// Ends returns an exchange without most of the middle of a long stream.
func (l *Loader) Ends(seq uint64, n int) (*capture.Exchange, error) {
	for x, err := range l.Source.Ends(l.Context, seq, n) {
		if err != nil {
			return nil, err
		}
		if x.Seq == seq {
			return x, nil
		}
		break
	}
	return nil, fmt.Errorf("exchange %d: %w", seq, capture.ErrNotFound)
}
