package recording

import (
	"sync"
	"time"
)

// A piece is one report about traffic, on its way from the relay to the recording goroutine.
type piece struct {
	kind    pieceKind
	x       *exchange
	at      time.Duration // since the queue's base
	data    []byte        // in the segment's buffer
	size    int64         // of an end: the bytes of the body that passed
	dropped int64         // of an end: the part of size that is not in earlier pieces
	lost    int64         // of pieceEnded: bytes that the queue had no room for
	note    any           // *capture.Fact, *capture.SideEnd, *capture.TransportFault, or *capture.Peer
}

type pieceKind uint8

const (
	pieceOpened pieceKind = iota
	pieceRequestBody
	pieceRequestEnd
	pieceInformational
	pieceAnswer
	pieceAnswerBody
	pieceAnswerEnd
	pieceFact
	pieceNamed // the client's name was found out
	pieceSideEnd
	pieceFault
	pieceLateFault // comes after pieceEnded
	pieceEnded
)

const (
	pieceWeight = 112      // the cost of one piece in addition to its bytes
	segmentSize = 32 << 10 // bytes in the buffer of a segment

	gatherTime  = 2 * time.Millisecond // that a piece may wait for others, to be recorded together
	gatherBytes = 256 << 10            // that wait and end the wait
)

// A segment is a run of pieces with their bytes, the unit that is pooled and recorded in one batch.
type segment struct {
	pieces []piece
	buf    []byte // the pieces' bytes; never grown, since they point into it
	weight int64
	next   *segment
}

var segments = sync.Pool{New: func() any {
	return &segment{pieces: make([]piece, 0, 64), buf: make([]byte, 0, segmentSize)}
}}

// A queue holds pieces in order of arrival, up to a number of bytes. Adding usually allocates nothing.
//
// Its lock also guards the producers' side of exchanges, since both change together.
type queue struct {
	mu       sync.Mutex
	ready    sync.Cond // there is something to take
	room     sync.Cond // something was released
	base     time.Time // offsets are measured from it, on the monotonic clock
	limit    int64
	used     int64 // bytes in segments, those being recorded included
	wait     bool  // a full queue makes the producer wait
	stuck    bool  // then, if it waits, even if it is not full
	refuse   bool  // nothing but ends is taken any more
	closed   bool
	flushNow chan struct{} // take should not wait for more; capacity 1
	pressed  chan struct{} // so much waits that names of clients are not waited for; capacity 1
	latest   time.Duration // of the last piece
	held     time.Duration // that the oldest piece has waited for the name of a client

	first, last *segment
	busy        *segment  // what take handed out and was not released
	lost        lossCount // exchanges with no piece in the queue, not yet reported
}

// A lossCount counts the traffic that passed unrecorded.
type lossCount struct{ exchanges, bytes int64 }

func newQueue(limit int64, wait bool) *queue {
	q := &queue{limit: limit, wait: wait, base: time.Now(), flushNow: make(chan struct{}, 1)}
	q.pressed = make(chan struct{}, 1)
	q.ready.L = &q.mu
	q.room.L = &q.mu
	return q
}

// add copies data into the queue and stamps the time. It returns false if there is no room. A piece that must be added
// (it is small, and there are at most a few for each exchange in the queue) may exceed the limit; so may any piece
// while the queue is empty, so that a small limit cannot refuse a large head forever. The caller holds the lock, which
// a waiting add releases in between.
func (q *queue) add(p piece, data []byte, must bool) bool {
	weight := int64(pieceWeight + len(data))
	for !must && (q.stuck && q.wait || q.used > 0 && q.used+weight > q.limit) {
		if !q.wait || q.refuse || q.closed {
			return false
		}
		q.flush()
		q.room.Wait()
	}
	if q.closed || q.refuse && !must {
		return false
	}
	s := q.segment(len(data))
	start := len(s.buf)
	s.buf = append(s.buf, data...)
	p.data = s.buf[start:len(s.buf):len(s.buf)]
	p.at = time.Since(q.base)
	if at := p.x.conn.passed; !at.IsZero() {
		p.at = min(p.at, max(q.latest, at.Sub(q.base)))
	}
	q.latest = p.at
	s.pieces = append(s.pieces, p)
	s.weight += weight
	q.used += weight
	if q.used >= min(gatherBytes, q.limit/4) {
		q.flush()
	}
	if q.used > q.limit/urgentPart {
		q.press()
	}
	q.ready.Signal()
	return true
}

// flush ends the wait of take.
func (q *queue) flush() { signal(q.flushNow) }

// press ends the wait of hold.
func (q *queue) press() { signal(q.pressed) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// hold waits until done is closed, up to a deadline, but not if little room is left or the queue is closed.
func (q *queue) hold(done <-chan struct{}, until time.Time) {
	q.mu.Lock()
	over := q.closed || q.used > q.limit/urgentPart
	select {
	case <-q.pressed: // of an earlier time
	default:
	}
	q.mu.Unlock()
	rest := time.Until(until)
	if over || rest <= 0 {
		return
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-q.pressed:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = q.behind()
}

// segment returns the last segment if n more bytes fit into it, or a new one.
func (q *queue) segment(n int) *segment {
	if q.last != nil && len(q.last.buf)+n <= cap(q.last.buf) {
		return q.last
	}
	var s *segment
	if n > segmentSize {
		s = &segment{buf: make([]byte, 0, n)}
	} else {
		s = segments.Get().(*segment)
	}
	if q.last == nil {
		q.first = s
	} else {
		q.last.next = s
	}
	q.last = s
	return s
}

// countLoss counts an exchange with no piece in the queue. The caller holds the lock.
func (q *queue) countLoss(bytes int64) {
	q.lost.exchanges++
	q.lost.bytes += bytes
	q.ready.Signal()
}

// take waits for pieces and returns the first segment, which may be nil, and the losses so far. It returns false when
// the queue is closed and empty. The segment stays counted until it is released.
//
// If take had to wait, it waits a moment longer for more pieces. Waking this goroutine for each piece would cost the
// producers, which are in the path of the traffic, more than all other work.
func (q *queue) take() (*segment, lossCount, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waited := false
	for q.first == nil && q.lost == (lossCount{}) && !q.closed {
		waited = true
		q.held = 0
		q.ready.Wait()
	}
	if waited && !q.closed {
		q.mu.Unlock()
		select {
		case <-time.After(gatherTime):
		case <-q.flushNow:
		}
		q.mu.Lock()
	}
	s, loss := q.first, q.lost
	q.lost = lossCount{}
	if s != nil {
		if q.first = s.next; q.first == nil {
			q.last = nil
		}
		s.next = nil
		q.busy = s
	}
	return s, loss, s != nil || loss != (lossCount{})
}

// release returns a recorded segment.
func (q *queue) release(s *segment) {
	q.mu.Lock()
	q.used -= s.weight
	q.busy = nil
	q.room.Broadcast()
	q.mu.Unlock()
	if cap(s.buf) > segmentSize || cap(s.pieces) > 4096 {
		return
	}
	clear(s.pieces)
	*s = segment{pieces: s.pieces[:0], buf: s.buf[:0]}
	segments.Put(s)
}

// stopWaiting makes a full queue refuse pieces from now on, including those that wait for room.
func (q *queue) stopWaiting() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wait = false
	q.room.Broadcast()
}

// hinder makes producers that may wait do so, regardless of the room, or lets them continue.
func (q *queue) hinder(stuck bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stuck = stuck
	q.room.Broadcast()
}

// close refuses further pieces, and lets take come to its end.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.flush()
	q.press()
	q.ready.Broadcast()
	q.room.Broadcast()
}

// stop refuses all pieces except the ends of exchanges in the queue.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refuse = true
	q.room.Broadcast()
}

// What may wait while recording gives way to the traffic.
const (
	urgentPart  = 4                     // of the queue, one part in so many
	urgentAfter = 10 * time.Millisecond // for so long
)

// urgent reports whether so much is waiting, or for so long, that recording cannot yield to the traffic any more.
// Waiting for the name of a client does not count.
func (q *queue) urgent() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used > q.limit/urgentPart || q.behind() > urgentAfter+q.held
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
