package proxy

import "time"

// Waiting returns how many bytes wait to be recorded, those included that are being recorded now, and how many may. The
// first is small while recording keeps up with the traffic. It may be called at any time, by several goroutines.
func (r *Recorder) Waiting() (bytes, limit int64) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	return r.q.used, r.q.limit
}

// What may wait while recording gives way to the traffic.
const (
	urgentPart  = 4                     // of the queue, one part in so many
	urgentAfter = 10 * time.Millisecond // for so long
)

// urgent reports whether what waits has come to so much, or has waited for so long, that recording cannot give way to
// the traffic any more. Waiting for the name of a client is no work that is late.
func (q *queue) urgent() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used > q.limit/urgentPart || q.behind() > urgentAfter+q.held
}

// Behind returns how long the oldest of what waits to be recorded has waited: what passed before is with the sink. It
// may be called at any time, by several goroutines.
func (r *Recorder) Behind() time.Duration {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	return r.q.behind()
}

// behind returns how long the oldest piece has waited. The caller holds the lock.
func (q *queue) behind() time.Duration {
	for _, s := range [...]*segment{q.busy, q.first} {
		if s != nil && len(s.pieces) > 0 {
			return time.Since(q.base) - s.pieces[0].at
		}
	}
	return 0
}
