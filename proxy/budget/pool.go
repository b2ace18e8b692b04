package budget

import (
	"slices"
	"sync"
	"time"
)

// A Pool is a number of bytes that many share. It may be used by several goroutines.
type Pool struct {
	mu     sync.Mutex
	size   int64
	free   int64
	offers []*Share // the oldest first
}

// NewPool returns a pool of so many bytes.
func NewPool(bytes int64) *Pool { return &Pool{size: bytes, free: bytes} }

// HeldRoom is the pool for all messages that are held: by taps, and by the user.
var HeldRoom = NewPool(HeldBytes)

// Share returns a share of the pool that has nothing yet.
func (p *Pool) Share() *Share { return &Share{pool: p, over: make(chan struct{})} }

// Free returns the number of free bytes.
func (p *Pool) Free() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free
}

// A Share is the part of a Pool that one user has taken. It may be used by several goroutines; a nil Share is
// unbounded.
type Share struct {
	pool   *Pool
	over   chan struct{} // closed by Close
	taken  int64         // guarded by the lock of the pool, like the fields below
	giveUp func()        // while it is among the pool's offers
	closed bool
}

// Offer lets others have the bytes of the share. If they find no room, they call giveUp, once and without a lock; it
// returns at once, and leads to Close.
func (s *Share) Offer(giveUp func()) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.closed {
		return
	}
	s.giveUp = giveUp
	s.pool.offers = append(s.pool.offers, s)
}

// Withdraw ends the offer.
func (s *Share) Withdraw() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.withdraw()
}

func (s *Share) withdraw() {
	if s.giveUp != nil {
		s.pool.offers = slices.DeleteFunc(s.pool.offers, func(o *Share) bool { return o == s })
		s.giveUp = nil
	}
}

// givePatience bounds how long Take waits for a share that is given up.
const givePatience = 250 * time.Millisecond

// Take takes n bytes, and reports whether the pool has them. If it does not, Take has the oldest of the offered shares
// given up, and waits for it, but not for long. After Close a share takes nothing.
func (s *Share) Take(n int) bool {
	if s == nil {
		return true
	}
	for !s.takeFree(int64(n)) {
		oldest, giveUp := s.oldestOther(int64(n))
		if oldest == nil {
			return false
		}
		giveUp()
		late := time.NewTimer(givePatience)
		select {
		case <-oldest.over:
			late.Stop()
		case <-late.C:
			return false
		}
	}
	return true
}

// takeFree takes n bytes, and reports whether they were free.
func (s *Share) takeFree(n int64) bool {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.closed || n > p.free {
		return false
	}
	p.free -= n
	s.taken += n
	return true
}

// oldestOther ends the oldest offer of another share, and returns it; nil if that cannot make room for n bytes.
func (s *Share) oldestOther(n int64) (oldest *Share, giveUp func()) {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.offers, func(o *Share) bool { return o != s })
	if i < 0 || s.closed || n > p.size {
		return nil, nil
	}
	oldest = p.offers[i]
	giveUp = oldest.giveUp
	oldest.withdraw()
	return oldest, giveUp
}

// Append appends p to b and takes the growth of its capacity from the pool. If there is no room, it returns b
// unchanged, and false.
func (s *Share) Append(b, p []byte) ([]byte, bool) {
	more := len(b) + len(p) - cap(b)
	if s == nil || more <= 0 {
		return append(b, p...), true
	}
	if twice := cap(b); twice > more && s.takeFree(int64(twice)) {
		more = twice
	} else if !s.Take(more) {
		return b, false
	}
	return append(append(make([]byte, 0, cap(b)+more), b...), p...), true
}

// Give gives n bytes back that were taken.
func (s *Share) Give(n int) {
	if s == nil {
		return
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	back := min(int64(n), s.taken)
	s.pool.free += back
	s.taken -= back
}

// Close gives all bytes back. It may be called more than once.
func (s *Share) Close() {
	if s == nil {
		return
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.closed {
		return
	}
	s.withdraw()
	s.pool.free += s.taken
	s.taken, s.closed = 0, true
	close(s.over)
}
