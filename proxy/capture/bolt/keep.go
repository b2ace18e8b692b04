package bolt

import (
	"slices"
	"sync"

	"a2atap/proxy/capture/bolt/internal/layout"
)

// keepBudget bounds the entries that wait to be stored.
const keepBudget = 8 << 20

// A keeper holds entries between Keep and the commit that stores them.
type keeper struct {
	wake chan struct{} // there is something to do; capacity 1

	mu      sync.Mutex
	changed sync.Cond // entries were done, or the keeper was closed
	calls   []keptCall
	bytes   int // of the entries that wait
	busy    int // of those that take handed out
	in, out uint64
	closed  bool
	dropped int
	failed  error // the first
}

// A keptCall is the entries of one call of Keep.
type keptCall struct {
	entries []layout.KeptEntry
	size    int
}

func newKeeper() *keeper {
	k := &keeper{wake: make(chan struct{}, 1)}
	k.changed.L = &k.mu
	return k
}

// put adds entries, which are stored together. It waits while the budget is exhausted.
func (k *keeper) put(entries []layout.KeptEntry, size int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for !k.closed && k.bytes+k.busy > 0 && k.bytes+k.busy+size > keepBudget {
		k.changed.Wait()
	}
	if k.closed {
		return errClosed
	}
	k.calls = append(k.calls, keptCall{entries, size})
	k.bytes += size
	k.in++
	notify(k.wake)
	return nil
}

// take hands out what waits, as much as a commit should have in addition to steps. done must follow before the next
// take.
func (k *keeper) take() (entries []layout.KeptEntry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for n < len(k.calls) && (n == 0 || k.busy+k.calls[n].size <= commitBytes) {
		entries = append(entries, k.calls[n].entries...)
		k.busy += k.calls[n].size
		n++
	}
	k.bytes -= k.busy
	k.out += uint64(n)
	k.calls = slices.Delete(k.calls, 0, n)
	if len(k.calls) > 0 {
		notify(k.wake)
	}
	return entries
}

func (k *keeper) done() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = 0
	k.changed.Broadcast()
}

// drop notes that entries could not be stored.
func (k *keeper) drop(n int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropped += n
	if k.failed == nil {
		k.failed = err
	}
}

// flush waits until the entries of earlier calls are done. hurry is called to make the next commit happen soon.
func (k *keeper) flush(hurry func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	want := k.in
	for k.out < want || k.busy > 0 {
		notify(k.wake)
		hurry()
		k.changed.Wait()
	}
}

// close makes put fail. What waits can still be taken.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.changed.Broadcast()
	notify(k.wake)
}

func (k *keeper) drained() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed && len(k.calls) == 0
}
