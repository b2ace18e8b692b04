package recorder

import (
	"context"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/kept"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
)

// A keeping writes down what judging a recording comes to, in the capture, while it is recorded. It is for the goroutine
// that judges; a nil one writes nothing.
type keeping struct {
	*kept.Writer
	store interface {
		Keep(entries ...capture.Entry) error
		Amend(ctx context.Context, entries ...capture.Entry) error
		Mark(ctx context.Context) ([]byte, error)
	}
	names   *redact.Names   // that cards have named
	closed  bool            // the store takes nothing more
	pending []capture.Entry // until the end, once it is closed
}

// newKeeping returns what writes the reading of a recording; nil if there is to be none: for what is added to a capture,
// of which the rules see a part only, and where keys are given, without which others would judge otherwise.
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
	k.Writer = kept.NewWriter(r.rules, seal.Putting(k.put))
	return k
}

// beginPatience is how long a recording waits until its reading has begun.
const beginPatience = time.Second

// begin writes down that there is a reading, so that whoever looks at the recording from its first moment on finds it.
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
	case <-time.After(beginPatience): // the disk does not take it now
	}
}

// put hands entries to the store. When that is closed they wait for the end.
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

// options returns those with which an engine tells it what it needs.
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

// judged is called now and then, with the last step that was judged, and caughtUp when all that is there was judged.
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

// due returns how long something that is known is not to be written yet, and whether there is any.
func (k *keeping) due() (pause time.Duration, any bool) {
	if k == nil {
		return 0, false
	}
	return k.Due()
}

// end writes the rest, when all was judged. Where a card has named credentials that may stand in what was recorded before
// it, the reading is not whole: who looks at the capture hides them, and judges it then.
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
