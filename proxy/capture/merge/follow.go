package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A mark says how far a recording had been read at a time.
type mark struct {
	at      time.Time
	scanned uint64
}

// Follow merges what is in the recordings, as Run does, and goes on with what comes, until all of them have ended or
// the context has, which is not an error. A step waits for the window that Options give, for what other recorders saw
// before it or of the same; of what is there already, those that a recorder that goes on saw last. Where the second
// view of an exchange comes later, it is folded into the first all the same, if that is so far all that was written of
// the two; else both stay, and say so.
func (m *Merger) Follow(ctx context.Context) error {
	if err := m.history(ctx, true); err != nil {
		return endOf(ctx, err)
	}
	m.late = true
	m.forget()
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

// round takes up what is new. It reports whether all recordings have ended and all is written, as it is at last.
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
		m.ripenAll()
	}
	if before != m.scanned() {
		m.match()
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

// ripen sets how far a recording may be written, to where it was a window ago, and how far it should have been, to
// where it was two windows ago: what others saw of the same has had the second one to get written too.
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

func (m *Merger) ripenAll() {
	for _, r := range m.recorders {
		r.out.limit = r.scanned
	}
}

// overdue reports whether what a blocked recorder waits for should have come.
func (r *recorder) overdue() bool { return r.out.head.Arrival <= r.out.due }

// settle decides which view stays of pairs that were found, by what was written of them.
func (m *Merger) settle() {
	for _, x := range m.unnoted {
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

// afterwards says what can be said now of pairs, and forgets what need not be compared any more.
func (m *Merger) afterwards(ctx context.Context) error {
	var err error
	m.unnoted = slices.DeleteFunc(m.unnoted, func(x *exchange) bool {
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
			m.edges[pair].refine(s) // its answer says more than was known before
		}
		err = m.note(x)
		return true
	})
	if err != nil {
		return err
	}
	m.forget()
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

// forget leaves exchanges out of what is compared that have been over for long.
func (m *Merger) forget() {
	newest := int64(unknown)
	for _, x := range m.pending {
		newest = max(newest, m.corrected(x.r.Host, x.started))
	}
	m.pending = slices.DeleteFunc(m.pending, func(x *exchange) bool {
		old := m.corrected(x.r.Host, x.started) < newest-int64(remembered)
		return old && x.closed && (x.out != 0 || x.stays != nil) && (x.down == nil || x.compared)
	})
}

// remembered is how long, on the clock of the recordings, an exchange that is over waits for its other view.
const remembered = 30 * time.Second

// separate writes the view of an exchange that was folded, as long as its answer seemed to be the same.
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
		if err := m.keep(folded.r, folded, s); err != nil {
			return err
		}
	}
	return nil
}
