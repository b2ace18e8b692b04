package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// secondAfter is the minimum time between the first interrupt and the second. An earlier interrupt counts as a
// repetition of the first: timeout and service managers signal the process and then its group, which includes the
// process, and a key that is held down repeats, too.
const secondAfter = time.Second

// Interrupts distinguishes a second interrupt from a repetition of the first. It is not safe for concurrent use.
type Interrupts struct {
	Now   func() time.Time
	first time.Time // zero before the first
}

// second records an interrupt, and reports whether it is a second one.
func (i *Interrupts) second() bool {
	now := i.Now()
	if i.first.IsZero() {
		i.first = now
		return false
	}
	return now.Sub(i.first) >= secondAfter
}

// UntilInterrupted returns a context that ends with the first SIGINT, SIGTERM or SIGHUP. The second ends the process.
// The caller calls cancel when it is done. From then on, signals have their earlier effect, unless the process is about
// to end with a status that is more specific than a signal.
func UntilInterrupted(ctx context.Context, e Env) (_ context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	over, finish := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, Endings()...)
	go func() {
		defer signal.Stop(signals)
		i := Interrupts{Now: e.Now}
		if i.twice(over, signals, end) {
			e.endAtOnce()
		}
	}()
	return ctx, func() {
		end()
		if !e.Alone {
			finish()
		}
	}
}

// Endings returns the signals that end a command in an orderly way. Under nohup, the command continues after its
// terminal closes.
func Endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// twice handles signals until a second interrupt, and then returns true, or until the context ends. It calls
// interrupted for each signal but the second interrupt.
func (i *Interrupts) twice(ctx context.Context, signals <-chan os.Signal, interrupted func()) bool {
	for {
		select {
		case <-signals:
			if i.second() {
				return true
			}
			interrupted()
		case <-ctx.Done():
			return false
		}
	}
}

// endAtOnce ends the process immediately.
func (e Env) endAtOnce() {
	fmt.Fprintln(e.Err, "a2atap: interrupted twice; what was not yet stored is lost")
	e.Exit(ExitInterrupted)
}

// A SignalRelay passes signals on to the child program until it has ended. After that, signals interrupt the remaining
// work.
type SignalRelay struct {
	Signals    chan os.Signal
	Interrupts Interrupts
	passed     map[os.Signal]time.Time // when the program last received each
}

// Passes records a signal, and reports whether to pass it on. An interrupt within a second of another one is not passed
// on: many programs exit at once, without cleaning up, on a second one.
func (r *SignalRelay) Passes(s os.Signal) bool {
	if s == syscall.SIGHUP {
		return true
	}
	r.Interrupts.second()
	now := r.Interrupts.Now()
	if last, ok := r.passed[s]; ok && now.Sub(last) < secondAfter {
		return false
	}
	if r.passed == nil {
		r.passed = make(map[os.Signal]time.Time)
	}
	r.passed[s] = now
	return true
}

// TakeOver makes a second interrupt end this process, once the program has ended. The returned function undoes that.
func (r *SignalRelay) TakeOver(e Env) (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		if r.Interrupts.twice(ctx, r.Signals, func() {}) {
			e.endAtOnce()
		}
	}()
	return stop
}
