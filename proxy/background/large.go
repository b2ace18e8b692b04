package background

import (
	"runtime"
	"runtime/metrics"
	"sync"
)

// large is held while a goroutine works on a long text.
var large sync.Mutex

// collectBefore is how many bytes the heap may hold, including garbage, when work on a long text begins.
const collectBefore = 64 << 20

// Large waits until no other goroutine works on a long text, so that the memory for decoding and parsing is needed only
// once at a time. It returns the function to call when the work is done. If the previous work left much garbage, Large
// collects it first: otherwise the collector would run only after the heap has doubled. Code in the path of the traffic
// must not call Large.
func Large() (done func()) {
	large.Lock()
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(held); held[0].Value.Uint64() > collectBefore {
		runtime.GC()
	}
	return large.Unlock
}
