package budget

import "sync"

// A Pool is a number of bytes that many share. It may be used by several goroutines.
type Pool struct {
	mu   sync.Mutex
	free int64
}

// NewPool returns a pool of so many bytes.
func NewPool(bytes int64) *Pool { return &Pool{free: bytes} }

// Share returns a share of the pool that has nothing yet.
func (p *Pool) Share() *Share { return &Share{pool: p} }

// Free returns how many bytes nobody has taken.
func (p *Pool) Free() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free
}

// A Share is what one has taken of a Pool. It may be used by several goroutines; a nil one takes without bound.
type Share struct {
	pool   *Pool
	taken  int64 // guarded by the lock of the pool
	closed bool
}

// Take takes n bytes, and reports whether the pool has them. After Close it has none.
func (s *Share) Take(n int) bool {
	if s == nil {
		return true
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.closed || int64(n) > s.pool.free {
		return false
	}
	s.pool.free -= int64(n)
	s.taken += int64(n)
	return true
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
	s.pool.free += s.taken
	s.taken, s.closed = 0, true
}
