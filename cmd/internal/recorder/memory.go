package recorder

import (
	"context"
	"sync"
	"time"
)

const (
	idleCheck = 100 * time.Millisecond // interval of checks for an idle recording
	idleShare = 200                    // maximum part of the time spent on freeing memory: one in idleShare; and
	muchShare = 10                     // one in muchShare if much can be freed
	much      = 16 << 20               // bytes more than were left after the last time
)

// A memoryKeeper returns unused memory to the system while nothing is recorded or checked: buffers left by a load,
// memory left by checks, and the stacks of silent connections. It is not safe for concurrent use.
type memoryKeeper struct {
	position func() uint64    // grows while something is recorded or judged
	trim     func()           // keeps the memory in use within its bounds, while position grows
	busy     func() bool      // reports whether something waits to be recorded
	free     func()           // two collections, since pools keep their contents over the first
	held     func() uint64    // bytes of memory that are not returned to the system
	now      func() time.Time // of the monotonic clock

	last  uint64        // position at the last check
	given uint64        // position when memory was last returned
	gave  time.Time     // time when memory was last returned
	took  time.Duration // how long it took
	left  uint64        // bytes held afterward
}

// begin sets how Go runs a process that records, and starts the checks. The function that it returns ends both.
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

// run checks until the context is canceled.
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

// check returns memory to the system if nothing was done since the last check, but something was done since memory was
// last returned. A check costs a collection. The longer collections take and the less they can free, the rarer checks
// are.
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
