package cli

import (
	"os"
	"os/signal"
	"sync"
)

// temporaries are files to remove before the process ends.
type temporaries struct {
	mu    sync.Mutex
	paths map[string]bool
}

// Temporary registers a file to be removed if an interrupt ends the process at once. Call forget once the file has been
// removed.
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

// Exit removes temporary files and ends the process at once with a status.
func (e Env) Exit(status int) {
	if e.Common != nil {
		e.Common.temporary.mu.Lock() // permanently: no more files may be created
		for path := range e.Common.temporary.paths {
			os.Remove(path)
		}
	}
	os.Exit(status)
}

// ExitWhenInterrupted makes an interrupt end the process until stop is called. It is for waits before a command handles
// interrupts itself. If the command already does, it has no effect.
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
