package web

import (
	"context"
	"sync"
	"time"
)

// A latest is something that is made of a capture as it is now, and made again when that has changed, but not so often
// that it takes more than a fifth of the time.
type latest[T any] struct {
	mu      sync.Mutex
	version uint64
	value   *T
	rest    time.Time // until which it is not made again
}

// costFactor is how many times as long as it took to make something it is used at least.
const costFactor = 4

// of returns what fresh makes of a version, or made of an earlier one a moment ago. That of a whole capture is never old.
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
	case err != nil && l.value != nil && !whole && ctx.Err() == nil: // what is being written is read again later
		return l.value, nil
	case err != nil:
		return nil, err
	}
	l.value, l.version = value, version
	l.rest = time.Now().Add(costFactor * time.Since(began))
	return value, nil
}
