// Package background lets work that can wait give way to the traffic: recording, storing and judging hold no processor
// for long that a relay, a client or an agent could use.
package background

import (
	"sync/atomic"
	"time"
)

// slice is how long work continues before it gives way: too short to notice, and much longer than giving way takes when
// nothing else waits, which is half a microsecond.
const slice = 25 * time.Microsecond

// Urgency tells that work cannot wait any more, since too much is pending. It may be used by several goroutines; a nil
// Urgency is never high.
type Urgency struct{ high atomic.Bool }

// Set changes whether the urgency is high.
func (u *Urgency) Set(high bool) {
	if u != nil && u.high.Load() != high {
		u.high.Store(high)
	}
}

// High reports whether the urgency is high.
func (u *Urgency) High() bool { return u != nil && u.high.Load() }

// giveWay lets those go first who wait for the processor.
var giveWay = yield

// patience is how long a job may take that gives way, before it does so no more.
const patience = 10 * time.Millisecond

// Work is the deferrable work of a goroutine. The zero Work is ready to use, by one goroutine, and can always wait.
type Work struct {
	Urgency *Urgency

	inJobs bool
	job    time.Duration // when it began, if work is done in jobs
	gave   bool          // it has given way
	since  time.Duration // since when it has not
}

// began is the start of this package's time: reading one clock takes half as long as reading two.
var began = time.Now()

// Begin begins a job that must be done within about ten milliseconds.
func (w *Work) Begin() { w.inJobs, w.job = true, time.Since(began) }

// GiveWay is called after each small piece of work. If that has taken a processor for a while, and is not urgent, those
// who wait for one get it first, and GiveWay returns true. The caller must hold no lock that the traffic needs.
func (w *Work) GiveWay() bool {
	now := time.Since(began)
	if w.gave && now-w.since < slice || w.Urgency.High() || w.inJobs && now-w.job > patience {
		return false
	}
	giveWay()
	w.gave, w.since = true, time.Since(began)
	return true
}
