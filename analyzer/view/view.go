// Package view provides everything that is known about one capture, whether it is finished, growing, or being recorded
// by another process.
//
// A View has one of three sources, and chooses by itself:
//
//   - a snapshot: the stored results of an ended capture, if they match its steps and these rules;
//   - the recorder's results, if another process records and checks the capture;
//   - an engine in this process, in all other cases. It publishes results while it checks, and stores them at the end.
//
// If the first two fail, because the recorder was killed or the stored results are damaged, the View continues with an
// engine, and State.Notice says why.
package view

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
)

const (
	pollInterval = 250 * time.Millisecond // between two looks at the recorder's results
	patience     = 10 * time.Second       // how long the recorder's results may lack steps without progress
	lag          = time.Second            // after which missing steps count as checking that is behind
	lagSteps     = 20_000                 // or so many missing steps
	retryPause   = time.Second
)

// Reasons to continue with an engine.
var (
	errNothing     = errors.New("the capture was not checked")
	errEnded       = errors.New("the recorder has stored its results")
	errStandsStill = errors.New("the check result is not being saved any more")
	errNotWhole    = errors.New("the check result was not saved completely")
	errHides       = errors.New("a card has named secrets that occur in earlier exchanges")
)

// A Store finds and stores the results of checking one capture, as it is at one moment.
type Store interface {
	// Snapshot returns the stored results. It returns nil and no error if no results are stored. A non-nil error is the
	// reason why stored results cannot be used. end releases the results; it may be nil.
	Snapshot(ctx context.Context) (r *snapshot.Results, end func() error, err error)
	// Recorder returns the results that the capture's recorder writes while it records; nil without a recorder.
	Recorder(ctx context.Context) *snapshot.Results
	// Mark identifies the steps of an ended capture; nil if its results are not to be stored.
	Mark() []byte
	// Keep stores results that end with this mark.
	Keep(ctx context.Context, results capture.Shelf)
}

// A Room holds results while an engine in this process makes them. Put may be called while others read.
type Room interface {
	capture.Shelf
	Put(entries ...capture.Entry) error
	Close() error
}

// Options say how a capture is checked.
type Options struct {
	Rules  []*analysis.Rule
	Engine []engine.Option             // of an engine in this process
	Store  func(context.Context) Store // opens the store of the capture as it is now; nil if nothing is stored

	// Room returns the room for the results of a capture. It returns nil, or is nil, if they are to be in memory.
	Room func(capture.Info) Room

	Once  bool // only the current steps are checked, even if the capture grows
	Again bool // stored results do not count
}

// A View is everything that is known about one capture. It grows with its capture. It is safe for concurrent use.
type View struct {
	src     capture.Source
	options Options

	mu      sync.Mutex
	state   State
	changed chan struct{}      // closed with the next change
	leave   context.CancelFunc // stops the View's current work
	doubt   error              // why the current results cannot be read, until the next phase begins; usually nil
	ends    []func() error     // of snapshots

	end     context.CancelFunc
	working sync.WaitGroup
}

// A State is what a View knows at one moment.
type State struct {
	Version  uint64            // increases with each change; 0 before anything is known
	Results  *snapshot.Results // nil before anything is known; other results replace all that was read from earlier ones
	Info     capture.Info
	Whole    bool   // all steps were checked, and no more will come unless the recording is resumed; or, with Once, all that were there
	Stored   bool   // the results were not made by this process
	Checking bool   // recorded steps wait to be checked
	Notice   string // why other results replaced the earlier ones: a line for the user
	Err      error  // why the capture cannot be read or checked now
}

// Open opens the View of a capture. Close ends it; the capture stays open.
func Open(src capture.Source, o Options) *View {
	ctx, cancel := context.WithCancel(context.Background())
	v := &View{src: src, options: o, changed: make(chan struct{}), end: cancel}
	v.working.Go(func() { v.run(ctx) })
	return v
}

// Close ends the View. Results of Now must no longer be in use.
func (v *View) Close() error {
	v.end()
	v.working.Wait()
	var err error
	for _, end := range v.ends {
		err = errors.Join(err, end())
	}
	return err
}

// Now returns the current state, and a channel that is closed when it changes.
func (v *View) Now() (State, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state, v.changed
}

// Wait returns the state when all of an ended capture was checked, or its error.
func (v *View) Wait(ctx context.Context) (State, error) {
	for {
		state, changed := v.Now()
		if state.Whole || state.Err != nil {
			return state, state.Err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return state, ctx.Err()
		}
	}
}

// Doubt tells the View that results cannot be read. If they are still the current ones, an engine replaces them.
func (v *View) Doubt(r *snapshot.Results, why error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r == v.state.Results && r != nil && v.leave != nil {
		v.state.Results, v.state.Whole, v.doubt = nil, false, why
		v.leave()
	}
}

// run follows the capture through all its recordings.
func (v *View) run(ctx context.Context) {
	for ctx.Err() == nil {
		store := v.store(ctx)
		why := errNothing
		if !v.options.Again {
			why = v.phase(ctx, func(ctx context.Context) error { return v.read(ctx, store) })
		}
		if errors.Is(why, errEnded) {
			store = v.store(ctx)
			why = v.phase(ctx, func(ctx context.Context) error { return v.readSnapshot(ctx, store) })
		}
		for why != nil && ctx.Err() == nil {
			why = v.phase(ctx, func(ctx context.Context) error { return v.check(ctx, store, why) })
		}
		for {
			if why = v.phase(ctx, v.resumed); why == nil || ctx.Err() != nil {
				break
			}
			why = v.phase(ctx, func(ctx context.Context) error { return v.check(ctx, nil, why) })
		}
	}
}

// store opens the store of the capture as it is now; nil if nothing is stored.
func (v *View) store(ctx context.Context) Store {
	if v.options.Store == nil {
		return nil
	}
	return v.options.Store(ctx)
}

// phase runs f until it ends, or until its results are in doubt, which is then its error. If the results of the phase
// before came into doubt after its end, it does not run f.
func (v *View) phase(ctx context.Context, f func(context.Context) error) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	v.mu.Lock()
	v.leave = leave
	doubted := v.doubt != nil
	v.mu.Unlock()
	var err error
	if !doubted {
		err = f(ctx)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.doubt != nil {
		err, v.doubt = v.doubt, nil
	}
	return err
}

// resumed waits until the capture is recorded into again.
func (v *View) resumed(ctx context.Context) error {
	src, is := v.src.(interface {
		Resumed(ctx context.Context, from uint64) error
	})
	if !is || v.options.Once {
		<-ctx.Done()
		return ctx.Err()
	}
	state, _ := v.Now()
	return src.Resumed(ctx, state.Info.Arrivals+1)
}

// set changes the state.
func (v *View) set(ctx context.Context, r *snapshot.Results, change func(*State)) {
	info, err := v.src.Info(ctx)
	if ctx.Err() != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Version++
	v.state.Whole, v.state.Stored, v.state.Checking, v.state.Err = false, false, false, nil
	if r != nil {
		v.state.Results = r
	}
	if err == nil {
		v.state.Info = info
	}
	if change != nil {
		change(&v.state)
	}
	v.state.Err = errors.Join(v.state.Err, err)
	close(v.changed)
	v.changed = make(chan struct{})
}

// read follows the stored results, or those of the recorder, to the end of the capture. Its error is the reason why the
// View cannot, or can no longer, rely on them.
func (v *View) read(ctx context.Context, store Store) error {
	if err := v.readSnapshot(ctx, store); store == nil || !errors.Is(err, errNothing) {
		return err
	}
	if v.options.Once {
		return errNothing
	}
	r := store.Recorder(ctx)
	if r == nil {
		return errNothing
	}
	return v.readRecorder(ctx, r)
}

func (v *View) readSnapshot(ctx context.Context, store Store) error {
	if store == nil {
		return errNothing
	}
	r, end, err := store.Snapshot(ctx)
	if end != nil {
		v.ends = append(v.ends, end)
	}
	if err != nil {
		return err
	}
	if r == nil {
		return errNothing
	}
	v.set(ctx, r, func(s *State) { s.Whole, s.Stored = true, true })
	return nil
}

// readRecorder follows the results that the capture's recorder writes.
func (v *View) readRecorder(ctx context.Context, r *snapshot.Results) error {
	last := time.Now() // when the results lacked nothing, or grew
	state, _ := v.Now()
	behind := false
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for grown := true; ; {
		info, err := v.src.Info(ctx)
		if err != nil {
			return err
		}
		now, head := time.Now(), r.Head()
		missing := info.Arrivals - min(info.Arrivals, head.Arrival)
		if grown || info.Live && missing == 0 {
			last = now
		}
		was := behind
		behind = !head.Ended && (missing > lagSteps || now.Sub(last) >= lag)
		if grown || behind != was || info.Arrivals != state.Info.Arrivals || info.Live != state.Info.Live {
			v.set(ctx, r, func(s *State) { s.Checking, s.Stored = behind, true })
			state, _ = v.Now()
		}
		switch still := now.Sub(last); {
		case head.Ended:
			return errEnded
		case !info.Live && (info.Crashes > 0 || still > patience):
			return errNotWhole
		case still > patience:
			return errStandsStill
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if grown, err = r.Refresh(ctx); err != nil {
			return err
		}
		if src, is := v.src.(interface{ Hides(context.Context) bool }); is && src.Hides(ctx) {
			return errHides
		}
	}
}

// check checks the capture in this process until the recording ends. why is the reason. Earlier results stay until the
// engine knows as much, unless they cannot be read or must not be shown.
func (v *View) check(ctx context.Context, store Store, why error) error {
	switch {
	case errors.Is(why, errNothing):
		why = nil
	case !errors.Is(why, errNotWhole) && !errors.Is(why, errStandsStill):
		v.mu.Lock()
		v.state.Results = nil
		v.mu.Unlock()
	}
	for {
		err := v.checkOnce(ctx, store, why)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		v.set(ctx, nil, func(s *State) { s.Err = err })
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return nil
		}
	}
}

func (v *View) checkOnce(ctx context.Context, store Store, why error) (err error) {
	info, err := v.src.Info(ctx)
	if err != nil {
		return err
	}
	room := v.room(info)
	w := snapshot.NewWriter(v.options.Rules, room.Put)
	w.Flush()
	r, err := snapshot.Open(ctx, room, v.options.Rules)
	if err != nil {
		return errors.Join(w.Err(), err)
	}
	notice := func(s *State) {
		if why != nil {
			s.Notice = fmt.Sprintf("%v; the capture is checked again", why)
		}
	}
	options := append(w.Options(), v.options.Engine...)
	var result *judgment.Result
	if v.options.Once {
		v.set(ctx, nil, notice)
		w.Interrupted = !info.Live && info.Crashes > 0
		result, err = engine.Run(ctx, v.options.Rules, v.src, w.Found, options...)
	} else {
		result, err = v.follow(ctx, r, w, notice, options)
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	if store == nil || store.Mark() == nil {
		store = v.store(ctx) // it has ended since, or stored results were in doubt
	}
	var mark []byte
	if store != nil && !result.Live {
		mark = store.Mark()
	}
	if err := w.Finish(result, mark); err != nil {
		return err
	}
	if _, err := r.Refresh(ctx); err != nil {
		return err
	}
	if mark != nil && (v.options.Once || v.sameSteps(ctx, r)) {
		store.Keep(ctx, room)
	}
	v.set(ctx, r, func(s *State) { notice(s); s.Whole = r.Head().Ended || v.options.Once })
	return nil
}

// sameSteps reports whether results are of all steps that the capture has.
func (v *View) sameSteps(ctx context.Context, r *snapshot.Results) bool {
	info, err := v.src.Info(ctx)
	return err == nil && info.Arrivals == r.Head().Arrival
}

// room returns the room for the results of checking.
func (v *View) room(info capture.Info) Room {
	var room Room
	if v.options.Room != nil {
		room = v.options.Room(info)
	}
	if room == nil {
		return memory{&capture.MemoryShelf{}}
	}
	v.ends = append(v.ends, room.Close)
	return room
}

// A memory is the room for few results.
type memory struct{ *capture.MemoryShelf }

func (memory) Close() error { return nil }

// follow checks the capture until its recording ends, and publishes the results that w writes and r reads.
func (v *View) follow(
	ctx context.Context, r *snapshot.Results, w *snapshot.Writer, notice func(*State), options []engine.Option,
) (result *judgment.Result, err error) {
	defer func() {
		if p := recover(); p != nil { // a rule that panics must not end the process that shows the rest
			err = fmt.Errorf("checking has stopped: a rule panicked: %v; a2atap check shows where, please report it", p)
		}
	}()
	before, _ := v.Now()
	publish := func(checking bool) error {
		grown, err := r.Refresh(ctx)
		if err != nil {
			return err
		}
		now, _ := v.Now()
		if checking && now.Results != nil && now.Results != r && r.Head().Arrival < before.Info.Arrivals {
			return nil // earlier results know more
		}
		if grown || now.Results != r || now.Checking != checking {
			v.set(ctx, r, func(s *State) { notice(s); s.Checking = checking })
		}
		return nil
	}
	if before.Err == nil { // which is shown until a step was checked
		if err := publish(true); err != nil {
			return nil, err
		}
	}
	src := &growing{Source: v.src, writer: w, publish: publish}
	result, err = engine.Follow(ctx, v.options.Rules, src, w.Found, options...)
	return result, errors.Join(err, src.err)
}

// A growing source publishes the results so far while an engine reads it. Only the goroutine of the engine may use it.
type growing struct {
	capture.Source
	writer  *snapshot.Writer
	publish func(checking bool) error
	last    time.Time // of publish
	err     error
}

// Steps implements capture.Source.
func (g *growing) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for s, err := range g.Source.Steps(ctx, from) {
			if !yield(s, err) {
				return
			}
			g.writer.Judged(s.Arrival)
			if now := time.Now(); now.Sub(g.last) > pollInterval {
				g.last = now
				g.note(true)
			}
		}
	}
}

// Wait implements capture.Source. Everything that was checked is published before it waits.
func (g *growing) Wait(ctx context.Context, from uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	write := func() {
		g.writer.Flush()
		g.note(false)
	}
	write()
	err := snapshot.Wait(ctx, g.Source, from, g.writer.Due, write)
	if errors.Is(err, capture.ErrEnded) {
		info, infoErr := g.Source.Info(ctx)
		g.writer.Interrupted = infoErr == nil && info.Crashes > 0
	}
	return err
}

func (g *growing) note(checking bool) {
	if err := g.publish(checking); g.err == nil {
		g.err = err
	}
}
