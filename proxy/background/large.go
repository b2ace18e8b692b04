package background

import "sync"

// large is held by whoever works on a text that is long.
var large sync.Mutex

// Large waits until nobody else works on a long text, so that what they take to be decoded and parsed does not come
// together, and returns what to call when the work is done. Who is in the path of the traffic must not call it.
func Large() (done func()) {
	large.Lock()
	return large.Unlock
}
