package open

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/internal/exchangejson"
	"a2atap/proxy/capture/jsonl"
)

// The kinds of files.
const (
	kindHAR        = ".har"
	kindJSONL      = ".jsonl"
	kindTranscript = ".txtar"
)

// A format is a file format that holds each exchange in a separate run of bytes.
type format struct {
	scan  func(r io.Reader, gaps *capture.Gaps, yield func(record []byte, offset int64) bool) error // finds the records
	place func(record []byte) (n uint64, started time.Time, err error)                              // what their order depends on
	read  func(record []byte, seq uint64, started time.Time) (*capture.Exchange, error)
	name  string // of the I-th record, for people
}

var formats = map[string]format{
	kindHAR:   {har.Scan, har.Place, har.Read, "entry"},
	kindJSONL: {jsonl.Scan, jsonl.Place, jsonl.Read, "exchange"},
}

// A source is a Source over a file that is finished. It knows where each exchange is, and reads it when asked.
type source struct {
	data   io.ReaderAt
	name   string
	format format
	places []place // in order of seq
	order  []int   // of places, by start; nil if they are in that order
	gaps   capture.Gaps
	broken error // what is wrong behind the last place; nil if nothing is
	close  func() error

	mu    sync.Mutex
	count *stepCount // nil until the whole file was read once
}

// A stepCount is how many steps a file has, and what is wrong behind them.
type stepCount struct {
	n      uint64
	broken error
}

// A place is where an exchange is.
type place struct {
	seq     uint64
	offset  int64
	length  int
	started time.Time
}

// scan finds the exchanges. It fails only if the file is of another format.
func (s *source) scan(r io.Reader) error {
	var wrong error
	skipped, r := skipMark(r)
	err := s.format.scan(r, &s.gaps, func(record []byte, offset int64) bool {
		p := place{offset: offset + skipped, length: len(record), seq: 1}
		n, started, err := s.format.place(record)
		if err = cmp.Or(err, exchangejson.CheckNodes(record)); err != nil {
			wrong = s.wrong(len(s.places), err)
			return false
		}
		if last := len(s.places) - 1; last >= 0 {
			p.seq = s.places[last].seq + 1
			if started.IsZero() {
				started = s.places[last].started
			}
		}
		// Numbers are kept while they increase. Exchanges of concatenated files get new numbers.
		p.seq, p.started = max(p.seq, n), started
		s.places = append(s.places, p)
		return true
	})
	if errors.Is(err, capture.ErrFormat) {
		return err
	}
	s.broken = cmp.Or(wrong, err)
	byTime := func(i, j int) int { return s.places[i].started.Compare(s.places[j].started) }
	order := make([]int, len(s.places))
	for i := range order {
		order[i] = i
	}
	if !slices.IsSortedFunc(order, byTime) {
		slices.SortStableFunc(order, byTime)
		s.order = order
	}
	return nil
}

// skipMark skips a byte order mark, and returns its length.
func skipMark(r io.Reader) (int64, io.Reader) {
	b := bufio.NewReaderSize(r, 64<<10)
	if mark, err := b.Peek(len(capture.BOM)); err == nil && string(mark) == capture.BOM {
		n, _ := b.Discard(len(capture.BOM)) // they have been peeked at
		return int64(n), b
	}
	return 0, b
}

// wrong adds to an error which record it concerns.
func (s *source) wrong(i int, err error) error {
	return fmt.Errorf("%s: %s %d: %w", s.name, s.format.name, i+1, err)
}

// read reads the exchange at a place.
func (s *source) read(i int) (*capture.Exchange, error) {
	p := s.places[i]
	record := make([]byte, p.length)
	if _, err := s.data.ReadAt(record, p.offset); err != nil {
		return nil, s.wrong(i, err)
	}
	x, err := s.format.read(record, p.seq, p.started)
	if err != nil {
		return nil, s.wrong(i, err)
	}
	return x, nil
}

// Close closes the file.
func (s *source) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Exchanges yields the exchanges in order of Seq, and then what is wrong behind them.
func (s *source) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	begin, _ := slices.BinarySearchFunc(s.places, from, placeSeq)
	return s.exchanges(ctx, func(yield func(int) bool) {
		for i := begin; i < len(s.places); i++ {
			if !yield(i) {
				return
			}
		}
	})
}

func placeSeq(p place, seq uint64) int { return cmp.Compare(p.seq, seq) }

// exchanges yields the exchanges at these places.
func (s *source) exchanges(ctx context.Context, places iter.Seq[int]) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for i := range places {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			x, err := s.read(i)
			if !yield(x, err) || err != nil {
				return
			}
		}
		if s.broken != nil {
			yield(nil, s.broken)
		}
	}
}

// Ends yields the exchanges as a whole: a record cannot be read in part.
func (s *source) Ends(ctx context.Context, from uint64, _ int) iter.Seq2[*capture.Exchange, error] {
	return s.Exchanges(ctx, from)
}

// StepsOf yields the steps of one exchange, numbered from 1.
func (s *source) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		x, err := s.Exchange(ctx, seq)
		if err != nil {
			yield(capture.Step{}, err)
			return
		}
		arrival := uint64(0)
		for step, err := range capture.Interleave(func(yield func(*capture.Exchange, error) bool) { yield(x, nil) }) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(capture.Step{}, err)
				return
			}
			if arrival++; arrival < from {
				continue
			}
			step.Arrival = arrival
			if !yield(step, nil) {
				return
			}
		}
	}
}

// Exchange reads one exchange.
func (s *source) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(s.places, seq, placeSeq)
	if !ok {
		return nil, fmt.Errorf("%s: read exchange %d: %w", s.name, seq, capture.ErrNotFound)
	}
	return s.read(i)
}

// Steps yields the steps of the exchanges, in order of time.
func (s *source) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	byTime := func(yield func(int) bool) {
		for i := range s.places {
			if s.order != nil {
				i = s.order[i]
			}
			if !yield(i) {
				return
			}
		}
	}
	return func(yield func(capture.Step, error) bool) {
		var count stepCount
		for step, err := range capture.Interleave(s.exchanges(ctx, byTime)) {
			if err = cmp.Or(err, ctx.Err()); err == nil {
				count.n = step.Arrival
			} else if count.broken = err; ctx.Err() != nil {
				yield(step, err)
				return
			}
			if (err != nil || count.n >= from) && !yield(step, err) {
				return
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.count = &count
	}
}

// counted reads the file once to count its steps.
func (s *source) counted(ctx context.Context) (stepCount, error) {
	s.mu.Lock()
	count := s.count
	s.mu.Unlock()
	if count != nil {
		return *count, nil
	}
	for range s.Steps(ctx, 0) {
		continue
	}
	if err := ctx.Err(); err != nil {
		return stepCount{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.count, nil
}

// Info describes the file, as far as it can be read. The first time it goes through all of it, to count the steps.
func (s *source) Info(ctx context.Context) (capture.Info, error) {
	info := capture.Info{Name: s.name, Imported: true}
	s.gaps.Describe(&info)
	if n := len(s.places); n > 0 {
		info.Exchanges = s.places[n-1].seq
		info.Created = s.places[0].started
	}
	count, err := s.counted(ctx)
	info.Arrivals = count.n
	return info, err
}

// Wait returns at once: the file is finished. Behind the last step of a broken file it returns what is wrong.
func (s *source) Wait(ctx context.Context, from uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	count, err := s.counted(ctx)
	switch {
	case err != nil:
		return err
	case from <= count.n:
		return nil
	case count.broken != nil:
		return count.broken
	}
	return capture.ErrEnded
}
