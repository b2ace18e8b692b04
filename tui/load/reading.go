package load

import (
	"context"
	"errors"
	"slices"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
)

// A Reading reads the rows of a View, except those of exchanges that have changed since they were checked. It is safe
// for concurrent use.
type Reading struct {
	view *view.View    // nil without one
	wake chan struct{} // holds a value when ahead has changed

	mu    sync.Mutex
	ahead map[uint64]uint64 // the last step of exchanges with steps that the View may not have
}

// NewReading returns a reader of a View's rows; nil for none.
func NewReading(v *view.View) *Reading {
	return &Reading{view: v, wake: make(chan struct{}, 1), ahead: make(map[uint64]uint64)}
}

// Now returns the current results, or nil before the first ones.
func (k *Reading) Now() *snapshot.Results {
	if k.view == nil {
		return nil
	}
	state, _ := k.view.Now()
	return state.Results
}

// changed records the last steps of exchanges with new steps.
func (k *Reading) changed(last map[uint64]uint64) {
	if len(last) == 0 || k.view == nil {
		return
	}
	k.mu.Lock()
	for seq, arrival := range last {
		k.ahead[seq] = arrival
	}
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Behind reports whether an exchange has steps that its row may not have.
func (k *Reading) Behind(seq uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ahead := k.ahead[seq]
	return ahead
}

// caughtUp returns the exchanges whose rows have all steps again, in order.
func (k *Reading) caughtUp(arrival uint64) (seqs []uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for seq, last := range k.ahead {
		if last <= arrival {
			seqs = append(seqs, seq)
			delete(k.ahead, seq)
		}
	}
	slices.Sort(seqs)
	return seqs
}

// Row returns the row of an exchange; nil if it does not exist or is out of date.
func (k *Reading) Row(ctx context.Context, seq uint64) *snapshot.Row {
	r := k.Now()
	if r == nil || k.Behind(seq) {
		return nil
	}
	row, err := r.Row(ctx, seq)
	if err != nil {
		k.doubt(ctx, r, err)
		return nil
	}
	if row != nil && row.Life == capture.StateOpen && !r.Head().Ended {
		return nil
	}
	return row
}

// doubt reports to the View that results cannot be read, unless the inspector is ending.
func (k *Reading) doubt(ctx context.Context, r *snapshot.Results, err error) {
	if ctx.Err() == nil {
		k.view.Doubt(r, err)
	}
}

// Whole reports whether each exchange has a row.
func (k *Reading) Whole() bool {
	r := k.Now()
	return r != nil && r.Head().Ended
}

// covers reports whether there are current rows of exchanges 1 to last.
func (k *Reading) covers(last uint64) bool {
	r := k.Now()
	if r == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	head := r.Head()
	return head.Ended && head.Last == last && len(k.ahead) == 0
}

// FindingsOf returns the findings of an exchange so far.
func (k *Reading) FindingsOf(ctx context.Context, seq uint64) []analysis.Finding {
	r := k.Now()
	if r == nil {
		return nil
	}
	row, err := r.Row(ctx, seq)
	var found []analysis.Finding
	if err == nil {
		found, err = r.FindingsOf(ctx, row)
	}
	if err != nil && (!errors.Is(err, capture.ErrDamagedEntry) || r.Head().Ended) {
		k.doubt(ctx, r, err)
	}
	return found
}
