package recorder

import (
	"context"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
)

// A keeping stores the results of checking a recording in the capture, while it is recorded. It is for the goroutine
// that checks. A nil keeping stores nothing.
type keeping struct {
	*snapshot.Writer
	store interface {
		Keep(entries ...capture.Entry) error
		Amend(ctx context.Context, entries ...capture.Entry) error
		Mark(ctx context.Context) ([]byte, error)
	}
	names   *redact.Names   // that cards have named
	closed  bool            // the store accepts no more entries
	pending []capture.Entry // entries for the end, once the store is closed
}

// newKeeping returns a keeping for a recording. It returns nil if no reading is to be stored: if the recording adds to
// a capture, since the rules see only a part, or if keys are given, since other commands without them would get other
// results.
func (r *Recording) newKeeping(o *Options) *keeping {
	if r.before.Arrivals > 0 || len(o.Keys) > 0 {
		return nil
	}
	info, err := r.store.Info(context.Background())
	seal := redacted.Seal(info, nil)
	if err != nil || seal == nil {
		return nil
	}
	k := &keeping{store: r.store, names: r.hide.Names}
	k.Writer = snapshot.NewWriter(r.rules, seal.Putting(k.put))
	return k
}

// beginPatience is how long a recording waits until its reading has begun.
const beginPatience = time.Second

// begin stores an empty reading, so that readers find it from the first moment of the recording.
func (k *keeping) begin(store func()) {
	if k == nil {
		return
	}
	k.Flush()
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		store()
	}()
	select {
	case <-stored:
	case <-time.After(beginPatience): // the disk does not accept it now
	}
}

// put passes entries to the store. Once the store is closed, they wait for the end.
func (k *keeping) put(entries ...capture.Entry) error {
	if !k.closed {
		if err := k.store.Keep(entries...); err == nil {
			return nil
		}
		k.closed = true
	}
	k.pending = append(k.pending, entries...)
	return nil
}

// options returns the engine options that report results to the keeping.
func (k *keeping) options() []engine.Option {
	if k == nil {
		return nil
	}
	return k.Options()
}

func (k *keeping) found(f analysis.Finding) {
	if k != nil {
		k.Found(f)
	}
}

// judged is called now and then, with the last checked step, and with caughtUp if every stored step is checked.
func (k *keeping) judged(arrival uint64) {
	if k != nil {
		k.Judged(arrival)
	}
}

func (k *keeping) caughtUp() {
	if k != nil {
		k.Flush()
	}
}

// due returns how long to wait before pending results are written, and whether there are any.
func (k *keeping) due() (pause time.Duration, any bool) {
	if k == nil {
		return 0, false
	}
	return k.Due()
}

// end stores the rest when everything is checked. If a card names credentials that may be in earlier exchanges, the
// reading is incomplete: readers of the capture hide them, and check it then.
func (k *keeping) end(ctx context.Context, result *judgment.Result) error {
	if k == nil || result == nil {
		return nil
	}
	var mark []byte
	if k.names.Empty() {
		var err error
		if mark, err = k.store.Mark(ctx); err != nil {
			return err
		}
	}
	k.closed = true
	if err := k.Finish(result, mark); err != nil {
		return err
	}
	return k.store.Amend(ctx, k.pending...)
}
