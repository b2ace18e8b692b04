package bolt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// A Rebuilt reports what Rebuild could read of a damaged capture.
type Rebuilt struct {
	Exchanges     int    // of which something could be read
	Steps         uint64 // that could be read
	LostSteps     uint64 // exchanges that could not be read, as far as known
	LostExchanges int64  // of which nothing could be read
	Crash         string // the message about the last recorder, if it was killed; otherwise empty
	EndUnknown    bool   // how many steps the capture had is not known: more may be missing at its end
	Anonymous     bool   // the capture's description could not be read: it has a new id
}

// Whole reports whether nothing is missing.
func (r *Rebuilt) Whole() bool { return r.LostSteps == 0 && r.LostExchanges == 0 && !r.EndUnknown }

// Rebuild records the readable parts of a damaged capture into a new one, with new rows and a new index. The new
// capture has the same id and reports what could not be read: with a Lost step in each exchange that may lack steps,
// and one that counts missing exchanges. Steps pass through the sink that through returns, which adds their keys.
//
// It does not change the old capture, which must not be recorded into.
func Rebuild(ctx context.Context, path, to string, through func(capture.Sink) capture.Sink) (*Rebuilt, error) {
	r, err := rebuild(ctx, path, to, through)
	if err != nil {
		return nil, fmt.Errorf("repair %s: %w", path, err)
	}
	return r, nil
}

func rebuild(ctx context.Context, path, to string, through func(capture.Sink) capture.Sink) (*Rebuilt, error) {
	if h, err := remote.AskHolder(path); err == nil {
		return nil, fmt.Errorf("%w: %s records into it; stop that recorder first", segments.ErrLocked, h)
	}
	paths, err := segments.Paths(path)
	if err != nil {
		return nil, err
	}
	r := rebuilder{blocks: make(map[uint64]pages.BlockPlace), open: make(map[uint64]bool), seen: make(map[uint64]bool)}
	for _, p := range paths {
		s, err := pages.OpenSalvage(p)
		if err != nil {
			return nil, err
		}
		defer s.File.Close()
		maps.Copy(r.blocks, s.Blocks)
		r.last = s
		if r.first == nil {
			r.first = s
		}
	}
	if r.first == nil {
		return nil, errors.New("there is no such file; check the name")
	}
	store, err := open(to, r.options())
	if err != nil {
		return nil, err
	}
	r.sink = through(store)
	err = errors.Join(r.run(ctx), r.sink.Close())
	return &r.Rebuilt, errors.Join(err, store.Reader.Close())
}

// A rebuilder follows the steps that can be read.
type rebuilder struct {
	Rebuilt
	first, last *pages.Salvage
	blocks      map[uint64]pages.BlockPlace
	state       layout.State // according to the capture; zero if it cannot be read
	sink        capture.Sink

	next     uint64          // the arrival number that comes next
	open     map[uint64]bool // exchanges without an end; true for those that may lack steps
	seen     map[uint64]bool
	reported int64 // exchanges that were lost when the capture was recorded
}

// options returns the new capture's options, which describe the old one as far as known.
func (r *rebuilder) options() Options {
	m, err := layout.ParseMeta(func(key []byte) []byte { return r.first.Meta[string(key)] })
	if err != nil {
		r.Anonymous = true
		m = layout.Meta{Capture: uuid.New(), Created: time.Now().UTC(), SecretsKept: true}
	}
	var stErr error
	r.state, stErr = layout.DecodeState(r.last.Meta[string(layout.MetaState)])
	r.EndUnknown = stErr != nil
	m.Segment, m.Arrivals, m.Exchanges = 1, 0, 0
	past := r.state.Resumed()
	return Options{copied: &m, begins: layout.State{Ended: true, Kills: past.Kills, Killed: past.Killed}}
}

func (r *rebuilder) run(ctx context.Context) error {
	r.next = 1
	for _, first := range slices.Sorted(maps.Keys(r.blocks)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.block(first); err != nil {
			return err
		}
	}
	return r.end()
}

// block takes over the steps of a block, up to the first that cannot be read.
func (r *rebuilder) block(first uint64) error {
	b, err := r.blocks[first].Read(first)
	if err != nil {
		return err
	}
	raw, err := b.Unpack()
	if err != nil || !r.EndUnknown && first > r.state.Arrival {
		return nil // it is of a commit that was not completed
	}
	steps := r.gap(nil, first)
	for arrival := first; len(raw) > 0; arrival++ {
		var one []byte
		var s capture.Step
		if one, raw, err = layout.Split(raw); err == nil {
			s, err = layout.DecodeStep(one, true)
		}
		if err != nil {
			break // and so a gap
		}
		if arrival == r.next {
			r.next++
			steps = r.step(steps, s)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return r.sink.Append(steps...)
}

const unreadable = "the capture was damaged and could not be read at this point"

// gap is called with the steps before first that cannot be read.
func (r *rebuilder) gap(steps []capture.Step, first uint64) []capture.Step {
	if first <= r.next {
		return steps
	}
	r.LostSteps += first - r.next
	r.next = first
	for _, seq := range slices.Sorted(maps.Keys(r.open)) {
		if !r.open[seq] {
			r.open[seq] = true
			steps = append(steps, capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Lost{Reason: unreadable}})
		}
	}
	return steps
}

func (r *rebuilder) step(steps []capture.Step, s capture.Step) []capture.Step {
	r.Steps++
	_, opens := s.What.(capture.Opened)
	if s.Seq != 0 && !r.seen[s.Seq] {
		r.seen[s.Seq] = true
		r.Exchanges++
		if r.open[s.Seq] = !opens; !opens {
			steps = append(steps, capture.Step{Seq: s.Seq, Offset: capture.NotKnown, What: capture.Lost{Reason: unreadable}})
		}
	}
	switch what := s.What.(type) {
	case capture.Closed:
		delete(r.open, s.Seq)
	case capture.Lost:
		r.reported += what.Exchanges
	}
	return append(steps, s)
}

// end records what is missing, and how the old recorder ended.
func (r *rebuilder) end() error {
	var steps []capture.Step
	last := slices.Max(append(slices.Collect(maps.Keys(r.seen)), 0))
	if !r.EndUnknown {
		steps = r.gap(steps, r.state.Arrival+1)
		last = max(last, r.state.Seq)
	}
	if r.LostSteps > 0 || r.EndUnknown {
		r.LostExchanges = max(0, int64(last)-int64(len(r.seen))-r.reported)
		steps = append(steps, capture.Step{
			Offset: capture.NotKnown, What: capture.Lost{Exchanges: r.LostExchanges, Reason: unreadable},
		})
	}
	if u := r.state.Unreported; u != (layout.Unreported{}) {
		steps = append(steps, capture.Step{
			Offset: capture.NotKnown,
			What:   capture.Lost{Exchanges: u.Exchanges, Bytes: u.Bytes, Reason: "it could not be written"},
		})
	}
	if times, crash := r.state.Crash(r.state.Ended); !r.state.Ended && times > 0 {
		for _, seq := range slices.Sorted(maps.Keys(r.open)) {
			steps = append(steps, capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Closed{Interrupted: true}})
		}
		r.Crash = crash.String()
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: crash.Lost()})
	}
	if len(steps) == 0 {
		return nil
	}
	return r.sink.Append(steps...)
}
