package probe

import (
	"sync"

	"a2atap/proxy/capture"
)

// A tape keeps the exchanges of cases that are still running.
type tape struct {
	mu sync.Mutex
	xs map[uint64]*capture.Exchange
}

func (t *tape) take(s capture.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.xs[s.Seq] = capture.Assemble(t.xs[s.Seq], s)
}

// exchange returns a copy of an exchange as recorded so far; nil if there is none.
func (t *tape) exchange(n uint64) *capture.Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.xs[n]; x != nil {
		return x.Copy()
	}
	return nil
}

func (t *tape) drop(numbers []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range numbers {
		delete(t.xs, n)
	}
}
