package compare

import (
	"math"

	"a2atap/proxy/a2a"
)

// Progress is the progress of a stream, in units that two runs of a workflow share regardless of chunk sizes: items,
// and chunks since the last one.
type Progress struct{ Items, Chunks int }

// Reached reports whether p is as far as q or further.
func (p Progress) Reached(q Progress) bool {
	return p.Items > q.Items || p.Items == q.Items && p.Chunks >= q.Chunks
}

// Progress returns the answer's progress.
func (f *ItemReader) Progress() Progress { return Progress{len(f.Items), f.chunks} }

// advance updates the live answer's progress after one of its items: to its number of items and chunks, or to the
// position of the item's recorded counterpart. An agent that skips an update, or sends an artifact in fewer chunks,
// reaches the same event.
func (l *Pairer) advance(at int) {
	l.come(l.live.Progress())
	it, rec := l.live.Items[at], l.pairs[at]
	switch {
	case rec < 0:
	case at == 0 && bothBegin(l.rec.Items[0], it), at == 0 && l.rec.Call.Operation == a2a.SubscribeToTask:
		l.come(Progress{Items: 1 + l.shown(it)})
	case it.Kind == a2a.ArtifactPayload && it.Last:
		l.come(Progress{rec + 1, math.MaxInt})
	case it.Kind == a2a.ArtifactPayload:
		l.come(Progress{rec + 1, l.live.chunks})
	case l.rec.Items[rec].Same(it):
		l.come(Progress{Items: rec + 1})
	}
}

func (l *Pairer) come(p Progress) {
	if !l.far.Reached(p) {
		l.far = p
	}
}

// shown returns the number of recorded items after the first that a snapshot of the task already shows, and marks
// them as seen.
func (l *Pairer) shown(snapshot Item) int {
	recorded := l.rec.Items
	if len(recorded) == 0 || snapshot.Kind != a2a.TaskPayload {
		return 0
	}
	artifacts, n := 0, 0
	for i, it := range recorded[1:] {
		if it.Kind == a2a.ArtifactPayload {
			artifacts++
		}
		if it.Err != nil || artifacts > snapshot.Count || it.Kind == a2a.MessagePayload {
			break
		}
		if it.State == snapshot.State {
			n = i + 1
			break
		}
	}
	for i := range n {
		l.used[i+1] = true
	}
	return n
}
