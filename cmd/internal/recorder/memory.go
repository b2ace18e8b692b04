package recorder

import (
	"context"
	"sync"
	"time"
)

const (
	idleCheck = 100 * time.Millisecond // how often it is looked whether a recording is idle
	idleShare = 200                    // giving memory back takes at most this part of the time: one in so many; and
	muchShare = 10                     // when there is much of it
	much      = 16 << 20               // bytes more than were left the last time
)

// A memoryKeeper gives memory that is not in use back to the system while nothing is recorded or judged: buffers that a
// load has left, what judging it has left, and the stacks of connections that are silent. It is for one goroutine.
type memoryKeeper struct {
	position func() uint64    // grows while something is recorded or judged
	trim     func()           // keeps what is in use within its bounds, while it grows
	busy     func() bool      // something waits to be recorded
	free     func()           // two collections, since pools keep what they hold over the first
	held     func() uint64    // bytes of memory that are not given back
	now      func() time.Time // of the monotonic clock

	last  uint64        // position at the last check
	given uint64        // position when memory was last given back
	gave  time.Time     // when that was
	took  time.Duration // how long it took
	left  uint64        // what was held after it
}

// begin sets how Go runs a process that records, and checks from now on. The function that it returns ends both.
func (k *memoryKeeper) begin() (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var checks sync.WaitGroup
	recordingRuntime.begin()
	checks.Go(func() { k.run(ctx) })
	return func() {
		stop()
		checks.Wait()
		recordingRuntime.end()
	}
}

// run checks until the context ends.
func (k *memoryKeeper) run(ctx context.Context) {
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.check()
		case <-ctx.Done():
			return
		}
	}
}

// check gives memory back if nothing was done since the last check, and something since it was last given back. That
// takes a collection, so that it comes the more rarely the longer it takes, and the less there is to give.
func (k *memoryKeeper) check() {
	at, now := k.position(), k.now()
	if at != k.last {
		k.trim()
	}
	idle := at == k.last && !k.busy()
	k.last = at
	if !idle || at == k.given {
		return
	}
	if since := now.Sub(k.gave); since < muchShare*k.took || since < idleShare*k.took && k.held() < k.left+much {
		return
	}
	k.free()
	k.given, k.gave, k.left = at, k.now(), k.held()
	k.took = k.gave.Sub(now)
}
