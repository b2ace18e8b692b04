package source

import (
	"context"
	"errors"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/fleet"
)

const (
	fleetPulse   = time.Second            // interval of checks for running recorders
	fleetRoll    = 10                     // one in this many checks asks all
	fleetPause   = 250 * time.Millisecond // interval of checks by a waiting reader
	fleetSettles = 3 * time.Second        // time after which everything that the last recorder shipped is merged
)

// follow merges the data read so far, and then new steps. It ends with Close or, unless forever is set, when no
// recorder is running.
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

// add also merges the capture of a newly found recorder.
func (f *stream) add(r fleet.Recorded) {
	f.merger.Add(recordingOf(r))
	select {
	case f.first <- struct{}{}:
	default: // merging has begun
	}
}

// do runs a part of the work until Close. Its errors count as errors of reading the capture.
func (f *stream) do(work func(context.Context) error) {
	f.working.Go(func() {
		if err := work(f.broken); err != nil && f.broken.Err() == nil {
			f.fail(f.explained(err))
		}
	})
}

// watch ends the merge when no recorder is running, unless the merge follows forever. If a recorder returns while the
// rest is merged, watch waits until it ends again.
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

// quiet reports whether no recorder has been running for long enough to merge everything.
func (f *stream) quiet() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.live && time.Since(f.quietAt) > fleetSettles
}

// Wait implements capture.Source. If no recorder is running, the recording has ended for now: see Resumed.
func (f *stream) Wait(ctx context.Context, from uint64) error {
	if f.store == nil {
		return f.Indexed.Wait(ctx, from)
	}
	for {
		if over, err := f.waitPulse(ctx, from); over {
			return err
		}
		if f.quiet() {
			return capture.ErrEnded
		}
	}
}

// waitPulse waits for a step for a limited time. It reports whether no more steps will come, and why.
func (f *stream) waitPulse(ctx context.Context, from uint64) (over bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, fleetPause)
	defer cancel()
	err = f.Indexed.Wait(bounded, from)
	switch {
	case f.broken.Err() != nil:
		return true, context.Cause(f.broken)
	case ctx.Err() != nil:
		return true, ctx.Err()
	}
	return !errors.Is(err, context.DeadlineExceeded), err
}

// Resumed waits until a recorder continues or a step exists.
func (f *stream) Resumed(ctx context.Context, from uint64) error {
	if f.store == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	for !f.goesOn() {
		if over, err := f.waitPulse(ctx, from); over {
			return err
		}
	}
	return nil
}
