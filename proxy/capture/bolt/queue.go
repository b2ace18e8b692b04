package bolt

import (
	"errors"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// errClosed is what Append returns after Close.
var errClosed = errors.New("the store was closed")

// A queue holds the steps between Append and the commit that stores them.
type queue struct {
	budget      int           // bytes that may wait or be in the commit under way
	commitBytes int           // bytes with which a commit does not wait for more
	wake        chan struct{} // there is something to do; capacity 1
	flushNow    chan struct{} // a commit should not wait; capacity 1
	ending      chan struct{} // no commit should wait any more; closed by close

	mu      sync.Mutex
	changed sync.Cond // steps were done, or the queue was closed
	steps   []capture.Step
	bytes   int // of the steps that wait
	busy    int // of the steps that take handed out
	in, out uint64
	since   time.Time // when the first of the steps that wait came
	closed  bool
	behind  func() time.Duration // how long the data passed to put has already waited; nil for not at all
}

func newQueue(budget, enough int, behind func() time.Duration) *queue {
	q := &queue{
		budget: budget, commitBytes: enough, behind: behind,
		wake: make(chan struct{}, 1), flushNow: make(chan struct{}, 1), ending: make(chan struct{}),
	}
	q.changed.L = &q.mu
	return q
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// put adds steps. It waits while the budget is exhausted: a policy for that belongs in the caller's own queue. Steps
// that are larger than the budget wait until the queue is empty.
func (q *queue) put(steps []capture.Step) error {
	n := 0
	for i := range steps {
		n += layout.Weight(&steps[i]) + steps[i].Parsed.Size()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.bytes+q.busy > 0 && q.bytes+q.busy+n > q.budget {
		q.changed.Wait()
	}
	if q.closed {
		return errClosed
	}
	if len(q.steps) == 0 {
		q.since = time.Now()
		if q.behind != nil {
			q.since = q.since.Add(-q.behind())
		}
	}
	q.steps = append(q.steps, steps...)
	q.bytes += n
	q.in += uint64(len(steps))
	notify(q.wake)
	if q.bytes >= q.commitBytes {
		notify(q.flushNow)
	}
	return nil
}

// take hands out all waiting steps, and the time since when they wait. done must follow before the next take.
func (q *queue) take(spare []capture.Step) ([]capture.Step, time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	steps := q.steps
	q.steps = spare[:0]
	q.busy, q.bytes = q.bytes, 0
	select {
	case <-q.flushNow:
	default:
	}
	return steps, q.since
}

func (q *queue) done(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = 0
	q.out += uint64(n)
	q.changed.Broadcast()
}

// waiting is how many bytes were put and are not done.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes + q.busy
}

// flush waits until the steps of earlier calls are done.
func (q *queue) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	want := q.in
	for q.out < want {
		notify(q.wake)
		notify(q.flushNow)
		q.changed.Wait()
	}
}

// close makes put fail. Waiting steps can still be taken. Call it once.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
	notify(q.wake)
	close(q.ending)
}

func (q *queue) drained() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && len(q.steps) == 0
}

// payload is how many bytes of traffic a step carries.
func payload(s *capture.Step) int64 {
	switch what := s.What.(type) {
	case capture.Opened:
		return int64(len(what.Head))
	case capture.RequestBody:
		return int64(len(what.Data)) + what.Dropped
	case capture.Informational:
		return int64(len(what.Head))
	case capture.ResponseHead:
		return int64(len(what.Head))
	case capture.ResponseBody:
		return int64(len(what.Data)) + what.Dropped
	case capture.ResponseEvent:
		return int64(len(what.Event.Raw)) + what.Event.Dropped
	case capture.RequestEnd:
		return int64(len(what.Trailer))
	case capture.ResponseEnd:
		return int64(len(what.Trailer))
	}
	return 0
}
