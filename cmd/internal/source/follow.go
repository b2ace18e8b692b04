package source

import (
	"context"
	"errors"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/fleet"
)

const (
	fleetPulse   = time.Second            // how often it is looked who goes on
	fleetRoll    = 10                     // of those, one in how many asks all
	fleetPause   = 250 * time.Millisecond // how often a reader that waits looks at it
	fleetSettles = 3 * time.Second        // after which what the last recorder shipped is merged
)

// follow merges what was read and goes on with what comes: until Close or, unless it is to go on forever, until no
// recorder goes on.
func (f *stream) follow(ctx context.Context, forever bool) error {
	recordings := f.recordings()
	if err := f.begin(ctx, recordings); err != nil {
		return err
	}
	f.Indexed = Hide(ctx, &f.store.Reader).(Indexed)
	f.live = true
	f.first = make(chan struct{}, 1)
	if len(recordings) > 0 {
		f.first <- struct{}{}
	}
	f.do(func(ctx context.Context) error { return f.reader.Follow(ctx, f.add) })
	f.do(func(ctx context.Context) error {
		select {
		case <-f.first:
			err := f.merger.Follow(ctx)
			if err == nil && ctx.Err() == nil {
				f.setLive(false)
				err = f.closeSink()
			}
			return err
		case <-ctx.Done():
			return nil
		}
	})
	f.do(func(ctx context.Context) error { return f.watch(ctx, forever) })
	return nil
}

// add merges the capture of a recorder that was found, too.
func (f *stream) add(r fleet.Recorded) {
	f.merger.Add(recordingOf(r))
	select {
	case f.first <- struct{}{}:
	default: // merging has begun
	}
}

// do runs a part of the work until Close. An error of it is one of reading the capture.
func (f *stream) do(work func(context.Context) error) {
	f.working.Go(func() {
		if err := work(f.broken); err != nil && f.broken.Err() == nil {
			f.fail(f.explained(err))
		}
	})
}

// watch looks who goes on. When nobody does, what they recorded ends for who merges it, unless it is followed forever.
// One that is heard of after that, while the rest is merged, has to end again.
func (f *stream) watch(ctx context.Context, forever bool) error {
	tick := time.NewTicker(fleetPulse)
	defer tick.Stop()
	for pulse := 1; ; pulse++ {
		live := f.reader.Lives(ctx) || len(f.reader.Recorded()) == 0
		if !live || pulse%fleetRoll == 0 {
			live = f.reader.Ask(ctx, f.add) || live
		}
		switch {
		case forever:
			f.setLive(live)
			f.reader.Abandon()
		case !live && ctx.Err() == nil:
			f.reader.Release()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *stream) setLive(live bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live && !live {
		f.quietAt = time.Now()
	}
	f.live = live
}

// quiet reports whether no recorder goes on, for long enough that what they recorded is merged.
func (f *stream) quiet() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.live && time.Since(f.quietAt) > fleetSettles
}

// Wait implements capture.Source. Where no recorder goes on, the recording has ended for now: see Resumed.
func (f *stream) Wait(ctx context.Context, from uint64) error {
	if f.store == nil {
		return f.Indexed.Wait(ctx, from)
	}
	for {
		err := f.waitPulse(ctx, from)
		switch {
		case f.broken.Err() != nil:
			return context.Cause(f.broken)
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return err
		case f.quiet():
			return capture.ErrEnded
		}
	}
}

func (f *stream) waitPulse(ctx context.Context, from uint64) error {
	ctx, cancel := context.WithTimeout(ctx, fleetPause)
	defer cancel()
	return f.Indexed.Wait(ctx, from)
}

// Resumed waits until a recorder goes on again, or a step is there.
func (f *stream) Resumed(ctx context.Context, from uint64) error {
	if f.store == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	for !f.goesOn() {
		err := f.waitPulse(ctx, from)
		switch {
		case f.broken.Err() != nil:
			return context.Cause(f.broken)
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
	return nil
}
