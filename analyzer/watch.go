package analyzer

import (
	"maps"
	"sync"
)

// A Watch shows what an engine has observed so far to others than the goroutine that it runs in. It may be asked at any
// time; the zero Watch has nothing to show until an engine was made for it.
type Watch struct {
	mu     sync.Mutex // held while the engine takes a step
	engine *Engine
}

// Watched returns an option that shows what the engine observes to w, in place of what an earlier engine has observed.
func Watched(w *Watch) EngineOption {
	return func(e *Engine) { e.watch = w }
}

// show puts the engine on view.
func (w *Watch) show(e *Engine) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.engine = e
	}
}

// begin begins a step; what it returns ends it.
func (w *Watch) begin() (end func()) {
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	return w.mu.Unlock
}

// Result returns what was observed so far: coverage, counts and calls. Findings are not in it, since the engine hands
// them out. It is the caller's.
func (w *Watch) Result() *Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &Result{}
	if w.engine == nil {
		return r
	}
	r.Coverage, r.Counts, r.Calls = w.engine.Coverage(), w.engine.Counts(), w.engine.Calls()
	for i := range r.Calls {
		r.Calls[i].Failures = maps.Clone(r.Calls[i].Failures)
	}
	return r
}
