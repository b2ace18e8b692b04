package web

import (
	"context"
	"sync"
	"time"
)

// A latest caches a result computed from the current capture. It computes the result again after changes, but in at
// most a fifth of the time.
type latest[T any] struct {
	mu      sync.Mutex
	version uint64
	value   *T
	rest    time.Time // earliest time to compute it again
}

// costFactor is the minimum lifetime of a result, as a multiple of the time to compute it.
const costFactor = 4

// of returns the result of fresh for a version, or a recent result for an earlier one. The result for a complete
// capture never expires.
func (l *latest[T]) of(
	ctx context.Context, version uint64, whole bool, fresh func(context.Context) (*T, error),
) (*T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.value != nil && (l.version == version || !whole && time.Now().Before(l.rest)) {
		return l.value, nil
	}
	began := time.Now()
	value, err := fresh(ctx)
	switch {
	case err != nil && l.value != nil && !whole && ctx.Err() == nil: // partly written results are read again later
		return l.value, nil
	case err != nil:
		return nil, err
	}
	l.value, l.version = value, version
	l.rest = time.Now().Add(costFactor * time.Since(began))
	return value, nil
}
