package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Run merges the current contents of the recordings. The result depends only on them: not on the order in which they
// were added, nor on the time. Two recordings of the same capture are a [SameError]. Nothing may be run or followed
// afterwards.
func (m *Merger) Run(ctx context.Context) error {
	if err := m.history(ctx, false); err != nil {
		return err
	}
	return m.finish()
}

// history merges the contents at the beginning; with more to come, it leaves out exchanges that other recorders may
// still affect.
func (m *Merger) history(ctx context.Context, more bool) error {
	if err := m.scan(ctx); err != nil {
		return err
	}
	for _, r := range m.recorders {
		r.out.limit = r.scanned
		if more && r.info.Live {
			r.out.limit = r.settled
		}
	}
	m.matcher.match(m.hosts(), false)
	m.name()
	if err := m.tellLosses(); err != nil {
		return err
	}
	return m.emit(ctx, more)
}

// finish reports everything that is still unreported.
func (m *Merger) finish() error {
	for _, x := range m.matcher.found {
		if err := m.out.note(x); err != nil {
			return err
		}
	}
	m.matcher.found = nil
	for _, r := range m.recorders {
		if err := m.out.tellHeadless(r); err != nil {
			return err
		}
	}
	m.tellClocks(true)
	return nil
}

// Follow merges the existing contents of the recordings, as Run does, and then new steps as they arrive. It returns
// when all recordings have ended or the context has, which is not an error. A step waits, for the window in Options,
// for earlier steps of other recorders, or their views of the same exchange. Of the existing steps, only those wait
// that a recorder saw last and that still continues. If the second view of an exchange arrives later, Follow folds it
// into the first one, provided that only the beginning of either was written. Otherwise both views stay, with a note.
func (m *Merger) Follow(ctx context.Context) error {
	if err := m.history(ctx, true); err != nil {
		return endOf(ctx, err)
	}
	m.out.late = true
	m.matcher.forget()
	tick := time.NewTicker(m.options.Window / 4)
	defer tick.Stop()
	for {
		all, err := m.round(ctx, false)
		if err != nil {
			return endOf(ctx, err)
		}
		if all {
			return m.finish()
		}
		select {
		case <-m.more:
		case <-tick.C: // what waits gets old
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx)
			if _, err := m.round(ctx, true); err != nil {
				return err
			}
			return m.finish()
		}
	}
}

func endOf(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// round processes new steps. It reports whether all recordings have ended and everything is written.
func (m *Merger) round(ctx context.Context, last bool) (all bool, err error) {
	before := m.scanned()
	if err := m.scan(ctx); err != nil {
		return false, err
	}
	now := time.Now()
	all = true
	for _, r := range m.recorders {
		r.ended = !r.info.Live && r.scanned >= r.info.Arrivals
		all = all && r.ended
		r.ripen(now, m.options.Window)
	}
	if all = all || last; all {
		for _, r := range m.recorders {
			r.out.limit = r.scanned
		}
	}
	if before != m.scanned() {
		m.matcher.match(m.hosts(), true)
		m.name()
		m.settle()
	}
	if err := m.tellLosses(); err != nil {
		return false, err
	}
	if err := m.emit(ctx, !all); err != nil {
		return false, err
	}
	return all, m.afterwards(ctx)
}

// ripen sets how far a recording may be written, up to one window ago, and how far it should have been written, up to
// two windows ago. Other recorders' views of the same exchange have had the second window to be written, too.
func (r *recorder) ripen(now time.Time, window time.Duration) {
	if n := len(r.ripe); r.out.due < r.scanned && (n == 0 || r.ripe[n-1].scanned < r.scanned) {
		r.ripe = append(r.ripe, mark{now, r.scanned})
	}
	due := 0
	for _, k := range r.ripe {
		age := now.Sub(k.at)
		if age >= window {
			r.out.limit = max(r.out.limit, k.scanned)
		}
		if age >= 2*window {
			r.out.due = max(r.out.due, k.scanned)
			due++
		}
	}
	r.ripe = r.ripe[due:]
}

// settle decides which view of new pairs stays, depending on what was already written of them.
func (m *Merger) settle() {
	for _, x := range m.matcher.found {
		y := x.down
		outer, inner := x.root(), y.root()
		switch {
		case y.apart, outer == inner, outer.out != 0 && inner.out != 0: // both were written
		case inner.out != 0, y.notified && outer.out == 0:
			outer.stays = inner
		default:
			inner.stays = outer
		}
	}
}

// afterwards reports what is now known about pairs, and forgets exchanges that need not be compared any more.
func (m *Merger) afterwards(ctx context.Context) error {
	var err error
	m.matcher.found = slices.DeleteFunc(m.matcher.found, func(x *exchange) bool {
		if err != nil {
			return false
		}
		if err = m.separate(ctx, x); err != nil {
			return false
		}
		if !x.closed || !x.down.closed || x.root().out == 0 {
			return false
		}
		if pair, s := sightingOf(x, x.down); pair[0] != pair[1] && x.own && !x.noted {
			m.clocks.edges[pair].refine(s) // its answer says more than was known before
		}
		err = m.out.note(x)
		return true
	})
	if err != nil {
		return err
	}
	m.matcher.forget()
	m.tellClocks(false)
	return nil
}

// scanned is how many steps of all recordings were summarised.
func (m *Merger) scanned() (n uint64) {
	for _, r := range m.recorders {
		n += r.scanned
	}
	return n
}

// separate writes the view of an exchange that was folded while its answer seemed to be the same.
func (m *Merger) separate(ctx context.Context, x *exchange) error {
	y := x.down
	folded := y
	if x.stays == y {
		folded = x
	}
	if !y.apart || folded.stays == nil {
		return nil
	}
	folded.stays = nil
	if !folded.passed.opened {
		return nil // it is still to come
	}
	for s, err := range folded.r.Source.StepsOf(ctx, folded.seq, 1) {
		if err != nil {
			return fmt.Errorf("merge %s: %w", folded.r.Name, err)
		}
		if s.Arrival > folded.r.out.read {
			break
		}
		if err := m.out.keep(folded.r, folded, s); err != nil {
			return err
		}
	}
	return nil
}
