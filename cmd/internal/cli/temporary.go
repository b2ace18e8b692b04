package cli

import (
	"os"
	"os/signal"
	"sync"
)

// temporaries are files that are not to outlive the process.
type temporaries struct {
	mu    sync.Mutex
	paths map[string]bool
}

// Temporary has a file removed when an interrupt ends the process at once. Forget is called when it was removed.
func (e Env) Temporary(path string) (forget func()) {
	if e.Common == nil {
		return func() {}
	}
	t := &e.Common.temporary
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paths == nil {
		t.paths = make(map[string]bool)
	}
	t.paths[path] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.paths, path)
	}
}

// Exit ends the process at once with a status, and leaves no temporary file behind.
func (e Env) Exit(status int) {
	if e.Common != nil {
		e.Common.temporary.mu.Lock() // for good: no file is to be made any more
		for path := range e.Common.temporary.paths {
			os.Remove(path)
		}
	}
	os.Exit(status)
}

// ExitWhenInterrupted has an interrupt end the process, until stop is called: for what a command waits for before it takes
// interrupts itself. Where it does so already, it changes nothing.
func (e Env) ExitWhenInterrupted() (stop func()) {
	if e.Common == nil || e.Common.Interruptible {
		return func() {}
	}
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, Endings()...)
	go func() {
		select {
		case <-signals:
			e.Exit(ExitInterrupted)
		case <-over:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(over)
	}
}
