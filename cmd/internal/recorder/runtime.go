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
	// sparePlaces are threads in addition to those that keep all processors busy. Network data then waits for the
	// system's scheduler, which favors threads that have slept. Go's scheduler polls the network only when it has
	// nothing else to run.
	sparePlaces = 2

	collectPercent = 400       // percent of live memory to allocate before a collection; it is little, and lives long
	heapBudget     = 108 << 20 // maximum bytes of memory with that setting
	heapSpare      = 24 << 20  // minimum bytes allocated beyond those in use before a collection
)

// A runtimeSetting sets how Go runs this process while it records. Recordings in one process share it.
type runtimeSetting struct {
	mu         sync.Mutex
	recordings int
	restore    func()
	sample     [1]metrics.Sample
}

var recordingRuntime runtimeSetting

// begin applies the setting for one more recording.
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

// adjust keeps the memory limit away from the memory in use. Near its limit, the collector runs all the time.
func (r *runtimeSetting) adjust() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sample[0].Name == "" {
		return
	}
	metrics.Read(r.sample[:])
	debug.SetMemoryLimit(memoryLimit(r.sample[0].Value.Uint64()))
}

// memoryLimit returns the memory limit for this many live bytes.
func memoryLimit(live uint64) int64 { return max(heapBudget, int64(live)+heapSpare) }

// end undoes the changes of begin when the last recording ends.
func (r *runtimeSetting) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recordings--; r.recordings == 0 {
		r.restore()
	}
}

// heldMemory returns how many bytes Go has from the system.
func heldMemory() uint64 {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(held)
	return held[0].Value.Uint64() - held[1].Value.Uint64()
}
