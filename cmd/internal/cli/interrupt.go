package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// secondAfter is how long after the first interrupt another one counts as the second. An earlier one repeats the first:
// timeout and service managers signal the process and then its group, which is the process again, and so does a key
// that is held down.
const secondAfter = time.Second

// Interrupts tells a second interrupt from a repetition of the first. It is for one goroutine.
type Interrupts struct {
	Now   func() time.Time
	first time.Time // zero while there was none
}

// second takes an interrupt that has just come, and reports whether it is a second one.
func (i *Interrupts) second() bool {
	now := i.Now()
	if i.first.IsZero() {
		i.first = now
		return false
	}
	return now.Sub(i.first) >= secondAfter
}

// UntilInterrupted returns a context that ends with the first SIGINT, SIGTERM or SIGHUP. The second ends the process. The
// caller calls cancel when it has nothing left to do: from then on signals do what they did before, unless the process is
// to end anyway, with a status that says more than a signal.
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

// Endings are the signals that end a command in good order. Whoever starts it with nohup wants it to go on when the
// terminal is closed.
func Endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// twice takes signals until it was a second interrupt, and then returns true, or until the context ends. It calls
// interrupted for each that is not.
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

// endAtOnce ends the process, whatever it is doing.
func (e Env) endAtOnce() {
	fmt.Fprintln(e.Err, "a2atap: interrupted twice; what was not yet stored is lost")
	e.Exit(ExitInterrupted)
}

// A SignalRelay passes signals on to the program until it has ended. After that they interrupt the work that is left.
type SignalRelay struct {
	Signals    chan os.Signal
	Interrupts Interrupts
	passed     map[os.Signal]time.Time // when the program last got one
}

// Passes takes a signal that has just come, and reports whether the program is to get it. An interrupt that repeats one
// within a second is not passed on: many programs exit at once, without cleaning up, when they get a second one.
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

// TakeOver lets a second interrupt end the process, now that the program has ended, until the function that it returns
// is called.
func (r *SignalRelay) TakeOver(e Env) (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		if r.Interrupts.twice(ctx, r.Signals, func() {}) {
			e.endAtOnce()
		}
	}()
	return stop
}
