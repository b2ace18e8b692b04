package background

import (
	"runtime"
	"runtime/metrics"
	"sync"
)

// large is held by whoever works on a text that is long.
var large sync.Mutex

// collectBefore is how much the heap may hold, in bytes and with what is garbage, when somebody begins with a long
// text.
const collectBefore = 64 << 20

// Large waits until nobody else works on a long text, so that what they take to be decoded and parsed does not come
// together, and returns what to call when the work is done. What the one before has left is collected first if it is
// much: by itself the collector would let it stand until there is twice as much. Whoever is in the path of the traffic
// must not call it.
func Large() (done func()) {
	large.Lock()
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(held); held[0].Value.Uint64() > collectBefore {
		runtime.GC()
	}
	return large.Unlock
}
