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

func (o *observed) request(x int, head []byte) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.Request(x, head)
	}
}

func (o *observed) requestBody(x int, p []byte) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.RequestBody(x, p)
	}
}

func (o *observed) requestEnd(x int, trailer []byte) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.RequestEnd(x, trailer)
	}
}

func (o *observed) informational(x int, head []byte) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.Informational(x, head)
	}
}

func (o *observed) answer(x int, head []byte) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.Answer(x, head)
	}
}

func (o *observed) upgraded(x int) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.Upgraded(x)
	}
}

func (o *observed) answerBody(x int, p []byte) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.AnswerBody(x, p)
	}
}

func (o *observed) answerEnd(x int, trailer []byte) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.AnswerEnd(x, trailer)
	}
}

func (o *observed) fault(x int, f Fault) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.Fault(x, f)
	}
}

func (o *observed) ended(x int) {
	defer o.recoverPanic("observer")
	if !o.broken.Load() {
		o.to.Ended(x)
	}
}
