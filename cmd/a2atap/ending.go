package main

import (
	"sync/atomic"
	"time"
)

// endPatience is how long the end of a recording may take for work that can be left out.
const endPatience = 500 * time.Millisecond

// An ending knows whether a recording has been ending for so long that work is left out. It may be used by several
// goroutines.
type ending struct{ began atomic.Pointer[time.Time] }

// begin says that the recording ends.
func (e *ending) begin() {
	now := time.Now()
	e.began.Store(&now)
}

// over reports whether there is no time left.
func (e *ending) over() bool {
	began := e.began.Load()
	return began != nil && time.Since(*began) > endPatience
}
