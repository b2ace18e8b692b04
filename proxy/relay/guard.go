package relay

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// A Guard keeps a panic in a caller's code away from the traffic. After the first panic, that code is not called again.
type Guard struct {
	broken atomic.Bool
	err    atomic.Pointer[error]
}

// Recover is deferred around each call.
func (g *Guard) Recover(who string) {
	if v := recover(); v != nil {
		err := fmt.Errorf("%s panicked, and is not called again on this connection: %v\n%s", who, v, debug.Stack())
		g.err.CompareAndSwap(nil, &err)
		g.broken.Store(true)
	}
}

// Broken reports whether a call has panicked.
func (g *Guard) Broken() bool { return g.broken.Load() }

// Failure returns the panic as an error, or nil.
func (g *Guard) Failure() error {
	if err := g.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Observed is an Observer that calls another Observer under Guard.
type Observed struct {
	Guard
	To Observer
}

var _ Observer = (*Observed)(nil)

// call calls the observer, unless it has panicked before.
func (o *Observed) call(f func()) {
	defer o.Recover("observer")
	if !o.Broken() {
		f()
	}
}

// Stream tells a StreamObserver, and no other.
func (o *Observed) Stream(x int, id uint32) {
	if to, ok := o.To.(StreamObserver); ok {
		o.call(func() { to.Stream(x, id) })
	}
}

// Request implements Observer.
func (o *Observed) Request(x int, head []byte) { o.call(func() { o.To.Request(x, head) }) }

// RequestBody implements Observer.
func (o *Observed) RequestBody(x int, p []byte) { o.call(func() { o.To.RequestBody(x, p) }) }

// RequestEnd implements Observer.
func (o *Observed) RequestEnd(x int, trailer []byte) { o.call(func() { o.To.RequestEnd(x, trailer) }) }

// Informational implements Observer.
func (o *Observed) Informational(x int, head []byte) { o.call(func() { o.To.Informational(x, head) }) }

// Answer implements Observer.
func (o *Observed) Answer(x int, head []byte) { o.call(func() { o.To.Answer(x, head) }) }

// Upgraded implements Observer.
func (o *Observed) Upgraded(x int) { o.call(func() { o.To.Upgraded(x) }) }

// AnswerBody implements Observer.
func (o *Observed) AnswerBody(x int, p []byte) { o.call(func() { o.To.AnswerBody(x, p) }) }

// AnswerEnd implements Observer.
func (o *Observed) AnswerEnd(x int, trailer []byte) { o.call(func() { o.To.AnswerEnd(x, trailer) }) }

// Fault implements Observer.
func (o *Observed) Fault(x int, f TransportError) { o.call(func() { o.To.Fault(x, f) }) }

// Ended implements Observer.
func (o *Observed) Ended(x int) { o.call(func() { o.To.Ended(x) }) }
