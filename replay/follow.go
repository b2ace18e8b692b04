package replay

import (
	"math"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/live"
)

// Progress is how far a stream has come, in a measure that two runs of the same workflow share whatever the size of
// their chunks: items, and chunks since the last one.
type Progress struct{ Items, Chunks int }

// Reached reports whether p is as far as q or further.
func (p Progress) Reached(q Progress) bool {
	return p.Items > q.Items || p.Items == q.Items && p.Chunks >= q.Chunks
}

func (f *itemReader) progress() Progress { return Progress{len(f.items), f.chunks} }

// advance notes how far the live answer has come with one of its items: as many items and chunks as it has, or as far
// as the recorded counterpart of the item. An agent that skips an update, or sends an artifact in fewer chunks, has come
// to the same event all the same.
func (l *pairer) advance(at int) {
	l.come(l.live.progress())
	it, rec := l.live.items[at], l.pairs[at]
	switch {
	case rec < 0:
	case at == 0 && bothBegin(l.rec.items[0], it), at == 0 && l.call.Operation == a2a.SubscribeToTask:
		l.come(Progress{Items: 1 + l.shown(it)})
	case it.kind == a2a.ArtifactPayload && it.last:
		l.come(Progress{rec + 1, math.MaxInt})
	case it.kind == a2a.ArtifactPayload:
		l.come(Progress{rec + 1, l.live.chunks})
	case l.rec.items[rec].same(it):
		l.come(Progress{Items: rec + 1})
	}
}

func (l *pairer) come(p Progress) {
	if !l.far.Reached(p) {
		l.far = p
	}
}

// shown returns how many recorded items after the first one a snapshot of the task shows already, and takes them for
// seen.
func (l *pairer) shown(snapshot item) int {
	if len(l.rec.items) == 0 || snapshot.kind != a2a.TaskPayload {
		return 0
	}
	artifacts, n := 0, 0
	for i, it := range l.rec.items[1:] {
		if it.kind == a2a.ArtifactPayload {
			artifacts++
		}
		if it.err != nil || artifacts > snapshot.count || it.kind == a2a.MessagePayload {
			break
		}
		if it.state == snapshot.state {
			n = i + 1
			break
		}
	}
	for i := range n {
		l.used[i+1] = true
	}
	return n
}

// A follower reads the live answer as it comes, for those that wait for it, and leaves it where the recorded client did.
type follower struct {
	*pairer
	rec    *reply
	run    *run
	events int // that were dispatched
}

// left reports whether the answer is as far as the recorded client saw it go. It cannot be known what came of a stream
// afterwards that the client left, or that the recording does not follow to its end.
func (f *follower) left() bool {
	return (f.rec.end == left || f.rec.end == unended) && f.far.Reached(f.rec.progress())
}

// begun is told that the answer is a stream.
func (f *follower) begun() (stay bool) { return !f.rec.stream || !f.left() }

// event takes a block of the stream. Events are progress as long as the recording has as many, and where they bring the
// answer further: neither a stream of pings nor an agent that repeats itself keeps the replay from ending.
func (f *follower) event(e *capture.Event) live.Reading {
	a, ok := readEvent(f.call, e)
	if !ok {
		return live.GoOn
	}
	f.events++
	before := f.far
	now := f.take(e.K, a)
	f.run.update(func() { f.run.progress = now })
	switch {
	case f.left():
		return live.Leave
	case f.events <= f.rec.events, f.far.Items > before.Items && f.far.Items <= len(f.rec.items):
		return live.Progress
	}
	return live.GoOn
}
