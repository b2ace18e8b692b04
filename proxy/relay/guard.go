package relay

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// guard keeps a panic of somebody else's code away from the traffic. After the first one that code is not called again.
type guard struct {
	broken atomic.Bool
	err    atomic.Pointer[error]
}

// recoverPanic is deferred around each call.
func (g *guard) recoverPanic(who string) {
	if v := recover(); v != nil {
		err := fmt.Errorf("%s panicked, it is not called again on this connection: %v\n%s", who, v, debug.Stack())
		g.err.CompareAndSwap(nil, &err)
		g.broken.Store(true)
	}
}

// failure returns the panic as an error, nil if there was none.
func (g *guard) failure() error {
	if err := g.err.Load(); err != nil {
		return *err
	}
	return nil
}

// observed calls an Observer under guard.
type observed struct {
	guard
	to Observer
}

// call calls the observer, unless it has panicked before.
func (o *observed) call(f func()) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		f()
	}
}

func (o *observed) request(x int, head []byte) { o.call(func() { o.to.Request(x, head) }) }

func (o *observed) requestBody(x int, p []byte) { o.call(func() { o.to.RequestBody(x, p) }) }

func (o *observed) requestEnd(x int, trailer []byte) { o.call(func() { o.to.RequestEnd(x, trailer) }) }

func (o *observed) informational(x int, head []byte) { o.call(func() { o.to.Informational(x, head) }) }

func (o *observed) answer(x int, head []byte) { o.call(func() { o.to.Answer(x, head) }) }

func (o *observed) upgraded(x int) { o.call(func() { o.to.Upgraded(x) }) }

func (o *observed) answerBody(x int, p []byte) { o.call(func() { o.to.AnswerBody(x, p) }) }

func (o *observed) answerEnd(x int, trailer []byte) { o.call(func() { o.to.AnswerEnd(x, trailer) }) }

func (o *observed) fault(x int, f Fault) { o.call(func() { o.to.Fault(x, f) }) }

func (o *observed) ended(x int) { o.call(func() { o.to.Ended(x) }) }
