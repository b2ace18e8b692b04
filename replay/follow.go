package replay

import (
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// A follower reads the live answer as it arrives, for requests that wait for it, and leaves it where the recorded
// client did.
type follower struct {
	*compare.Pairer
	rec    *compare.Recorded
	call   *a2a.Call // that is answered
	run    *run
	events int // that were dispatched
}

// left reports whether the answer has reached the point up to which the recorded client saw it. The rest of a stream is
// unknown if the client left it or the recording ended first.
func (f *follower) left() bool {
	return (f.rec.End == compare.Left || f.rec.End == compare.Unended) && f.Far().Reached(f.rec.Progress())
}

// begun is called if the answer is a stream.
func (f *follower) begun() (stay bool) { return !f.rec.Stream || !f.left() }

// event takes a block of the stream. Events count as progress while the recording has as many, or if they advance the
// answer. A stream of pings, or an agent that repeats itself, thus cannot keep the replay from ending.
func (f *follower) event(e *capture.Event) live.Reading {
	a, ok := compare.ReadEvent(f.call, e)
	if !ok {
		return live.GoOn
	}
	f.events++
	before := f.Far()
	now := f.Take(e.K, a)
	f.run.update(func() { f.run.progress = now })
	switch {
	case f.left():
		return live.Leave
	case f.events <= f.rec.Events, now.Items > before.Items && now.Items <= len(f.rec.Items):
		return live.Progress
	}
	return live.GoOn
}
