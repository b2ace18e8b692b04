package recorder

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// How a recorder uses the machine, unless the user has set GOMAXPROCS, GOGC or GOMEMLIMIT.
const (
	// sparePlaces are threads beside those that keep all processors busy. What comes from the network then waits for
	// the system's scheduler, which gives way to who has slept, and not for Go's, which looks at the network when it
	// has nothing else to run.
	sparePlaces = 2

	collectPercent = 400       // of what is in use, that is allocated before it is collected: it is little, and lives long
	heapBudget     = 120 << 20 // bytes of memory that this may lead to
	heapSpare      = 40 << 20  // bytes that are allocated beside what is in use at least, before they are collected
)

// A runtimeSetting is how Go runs this process while it records. Recordings in one process share it.
type runtimeSetting struct {
	mu         sync.Mutex
	recordings int
	restore    func()
	sample     [1]metrics.Sample
}

var recordingRuntime runtimeSetting

// begin changes the setting for one recording more.
func (r *runtimeSetting) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recordings++; r.recordings > 1 {
		return
	}
	var undo []func()
	if os.Getenv("GOMAXPROCS") == "" {
		before := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(before + sparePlaces)
		undo = append(undo, func() { runtime.GOMAXPROCS(before) })
	}
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		percent, limit := debug.SetGCPercent(collectPercent), debug.SetMemoryLimit(heapBudget)
		undo = append(undo, func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
		r.sample[0].Name = "/gc/heap/live:bytes"
	}
	r.restore = func() {
		for _, f := range undo {
			f()
		}
		r.sample[0].Name = ""
	}
}

// adjust moves the limit of memory away from what is in use: a collector that is close to it runs all the time.
func (r *runtimeSetting) adjust() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sample[0].Name == "" {
		return
	}
	metrics.Read(r.sample[:])
	debug.SetMemoryLimit(memoryLimit(r.sample[0].Value.Uint64()))
}

// memoryLimit returns the limit where so many bytes are in use.
func memoryLimit(live uint64) int64 { return max(heapBudget, int64(live)+heapSpare) }

// end takes back what begin has changed, when the last recording ends.
func (r *runtimeSetting) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recordings--; r.recordings == 0 {
		r.restore()
	}
}

// heldMemory returns how many bytes of memory Go has from the system.
func heldMemory() uint64 {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(held)
	return held[0].Value.Uint64() - held[1].Value.Uint64()
}
