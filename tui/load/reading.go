package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/kept"
	"a2atap/proxy/capture"
)

const (
	keptPage     = 1000                   // findings of a reading that are passed on at once
	keptPause    = 250 * time.Millisecond // between two looks at a reading that grows
	keptPatience = 10 * time.Second       // for which a reading may stand still while the capture grows
	endPatience  = 2 * time.Second        // the same when nobody is expected to go on with it
	keptLag      = time.Second            // after which an end that the reading does not know is judging that is behind
	keptSteps    = 20_000                 // or so many steps, at once
)

// Why a reading is not used any more, beside damage.
var (
	errStandsStill = errors.New("what judging came to is not written down any more")
	errNotWhole    = errors.New("what judging came to was not written down to the end")
	errHides       = errors.New("a card has named what is to be hidden in exchanges before it")
)

// A Reading is the reading of the capture as long as it is believed, and which exchanges have gone on since it was
// written. It may be asked by several goroutines at once.
type Reading struct {
	of   atomic.Pointer[kept.Reading] // nil if there is none
	wake chan struct{}                // holds a value when there is something to look at

	Making <-chan struct{} // closed when this process does not go on with the reading; nil if it never did

	mu    sync.Mutex
	err   error             // why it was let go
	ahead map[uint64]change // exchanges with steps that the reading may not know yet
}

// A change is that an exchange has new steps.
type change struct {
	arrival uint64 // of the last
	closed  bool   // its end is among them
	since   time.Time
}

// NewReading returns a reading that is believed; r is nil if there is none.
func NewReading(r *kept.Reading) *Reading {
	k := &Reading{wake: make(chan struct{}, 1), ahead: make(map[uint64]change)}
	k.of.Store(r)
	return k
}

func (k *Reading) Now() *kept.Reading { return k.of.Load() }

// isMade reports whether this process goes on with the reading.
func (k *Reading) isMade() bool {
	select {
	case <-k.Making:
		return false
	default:
		return k.Making != nil
	}
}

// letGo says that the reading is not to be used, unless that is because the inspector ends.
func (k *Reading) letGo(ctx context.Context, why error) {
	if ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	if k.of.Swap(nil) != nil {
		k.err = why
	}
	clear(k.ahead)
	k.mu.Unlock()
	k.poke()
}

func (k *Reading) Why() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *Reading) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// changed says that exchanges have new steps.
func (k *Reading) changed(list map[uint64]change) {
	if len(list) == 0 || k.Now() == nil {
		return
	}
	k.mu.Lock()
	for seq, c := range list {
		before, there := k.ahead[seq]
		c.closed = c.closed || before.closed
		if there {
			c.since = before.since
		}
		k.ahead[seq] = c
	}
	k.mu.Unlock()
	k.poke()
}

// Behind reports whether an exchange has steps that the reading may not know.
func (k *Reading) Behind(seq uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ahead := k.ahead[seq]
	return ahead
}

// caughtUp returns the exchanges that the reading knows by now as they are, in order, and since when it has not known
// the end of another one; zero if there is none.
func (k *Reading) caughtUp(arrival uint64) (seqs []uint64, since time.Time, left int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for seq, c := range k.ahead {
		switch {
		case c.arrival <= arrival:
			seqs = append(seqs, seq)
			delete(k.ahead, seq)
		case c.closed && (since.IsZero() || c.since.Before(since)):
			since = c.since
		}
	}
	slices.Sort(seqs)
	return seqs, since, len(k.ahead)
}

// Row returns the row of an exchange; nil if there is none, or none that says how the exchange is now.
func (k *Reading) Row(ctx context.Context, seq uint64) *kept.Row {
	r := k.Now()
	if r == nil || k.Behind(seq) {
		return nil
	}
	row, err := r.Row(ctx, seq)
	if err != nil {
		k.letGo(ctx, err)
		return nil
	}
	if row != nil && row.Life == capture.StateOpen && !r.Head().Ended {
		return nil
	}
	return row
}

// Whole reports whether there is a reading that has a row of each exchange.
func (k *Reading) Whole() bool {
	r := k.Now()
	return r != nil && r.Head().Ended
}

// covers reports whether the reading is of exchanges 1 to last as they are now.
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

// FindingsOf returns the findings of an exchange, as far as the reading knows them.
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
	if err != nil && !errors.Is(err, capture.ErrDamagedEntry) || err != nil && r.Head().Ended {
		k.letGo(ctx, err)
	}
	return found
}

// relayKept passes on what a reading says, in place of an engine that judges the capture, until the inspector ends:
// then it returns false. Where the reading is let go, an engine is there for the whole capture.
func (j *judgeRun) relayKept() bool {
	f := keptFollower{judgeRun: j}
	err := f.follow()
	if j.Context.Err() != nil {
		return false
	}
	j.Reading.letGo(j.Context, err)
	j.Observed.bySelf()
	j.engine, j.next, j.found, j.restarted = j.newEngine(), 1, nil, false
	return j.send(Judged{Restarted: true, Behind: true, Lost: fmt.Sprintf("%v; the capture is judged anew", err)})
}

// A keptFollower passes on what a reading says.
type keptFollower struct {
	*judgeRun
	told    bool // something was
	next    uint64
	version uint64
	ended   bool
	theirs  bool      // the recorder of the capture, another process, goes on with the reading
	lags    bool      // so it was told: there is something to judge
	moved   time.Time // when the reading was seen to grow last
	covered []uint64  // exchanges that have other rows since it was told last
}

// follow returns why the reading cannot be used any more.
func (f *keptFollower) follow() error {
	f.moved = time.Now()
	if r := f.Reading.Now(); r != nil {
		var err error
		head := r.Head()
		f.theirs = !head.Ended && f.Reading.Making == nil
		if f.lags, err = f.behind(&head, time.Time{}, f.moved); err != nil {
			return err
		}
	}
	for f.Context.Err() == nil {
		r := f.Reading.Now()
		if r == nil {
			return f.Reading.Why()
		}
		if err := f.tell(r); err != nil {
			return err
		}
		if err := f.wait(r); err != nil {
			return err
		}
	}
	return f.Context.Err()
}

// tell passes on what is new.
func (f *keptFollower) tell(r *kept.Reading) error {
	head := r.Head()
	info, err := f.Source.Info(f.Context)
	if err != nil {
		return err
	}
	news := Judged{Next: head.Arrival + 1, Behind: true, Reading: true}
	if head.Version < f.version || head.Ended && !f.ended { // what was found provisionally may be replaced
		news.Restarted, f.next = f.told, 0
	}
	f.told, f.version, f.ended = true, head.Version, head.Ended
	result, err := r.Result(f.Context)
	switch {
	case err == nil:
		if news.Counts = result.Counts; head.Counts != nil { // which are newer
			news.Counts = *head.Counts
		}
		f.Observed.fromReading(result, head.Ended)
	case !errors.Is(err, kept.ErrNone) || head.Ended:
		return err
	}
	for found, err := range r.Findings(f.Context, f.next) {
		if err != nil {
			return err
		}
		if found.Place.Exchange > info.Exchanges {
			if info, err = f.Source.Info(f.Context); err != nil {
				return err
			}
		}
		if found.Place.Exchange > info.Exchanges {
			return fmt.Errorf("%w: a finding in exchange %d of %d", capture.ErrDamagedEntry, found.Place.Exchange, info.Exchanges)
		}
		f.next = found.Number + 1
		if news.Findings = append(news.Findings, *found.Finding); len(news.Findings) < keptPage {
			continue
		}
		if !f.send(news) {
			return f.Context.Err()
		}
		news.Findings, news.Restarted = nil, false
	}
	if err := f.readLinks(false); err != nil {
		return err
	}
	if head.Ended && !info.Live {
		news.Next = info.Arrivals + 1
	}
	news.Behind = result == nil || f.lags || !head.Ended && f.Reading.isMade()
	news.Reading, news.Rows = false, f.covered
	news.Ended = head.Ended
	f.covered = nil
	if !f.send(news) {
		return f.Context.Err()
	}
	return nil
}

// wait waits until the reading has grown, or there is something else to tell.
func (f *keptFollower) wait(r *kept.Reading) error {
	quiet := false
	for {
		var pause <-chan time.Time // forever, where nothing can come by itself
		if !quiet || !r.Head().Ended {
			pause = time.After(keptPause)
		}
		select {
		case <-pause:
		case <-f.Reading.wake:
		case <-f.Context.Done():
			return f.Context.Err()
		}
		if f.Reading.Now() == nil {
			return f.Reading.Why()
		}
		grown, err := r.Refresh(f.Context)
		if err != nil {
			return err
		}
		now := time.Now()
		if grown {
			f.moved = now
		}
		if src, is := f.Source.(hiding); is && f.theirs && src.Hides(f.Context) {
			return errHides
		}
		head := r.Head()
		covered, since, left := f.Reading.caughtUp(head.Arrival)
		f.covered, quiet = append(f.covered, covered...), left == 0
		lagged := f.lags
		if f.lags, err = f.behind(&head, since, now); err != nil {
			return err
		}
		if grown || len(covered) > 0 || f.lags != lagged || f.linksDue(&head, now) {
			return nil
		}
	}
}

// A hiding source may hide something that stands in what was recorded, and so in what its recorder makes of it.
type hiding interface {
	Hides(ctx context.Context) bool
}

// behind reports whether there is something to judge which the reading does not know, and has not for some time. It
// returns an error where nobody goes on with it. Since is since when it has not known the end of an exchange.
func (f *keptFollower) behind(head *kept.Head, since, now time.Time) (bool, error) {
	still, lags := now.Sub(f.moved), !since.IsZero() && now.Sub(since) >= keptLag
	patience := keptPatience
	if head.Ended {
		patience = endPatience
	}
	if lags && min(now.Sub(since), still) >= patience {
		return true, errStandsStill
	}
	if head.Ended || f.Reading.isMade() {
		return lags, nil
	}
	info, err := f.Source.Info(f.Context)
	if err != nil {
		return lags, err
	}
	if !f.theirs {
		patience = endPatience
	}
	switch over := !info.Live; {
	case over && (info.Crashes > 0 || still >= patience):
		return true, errNotWhole
	case over && still >= keptLag, info.Arrivals > head.Arrival+keptSteps:
		return true, nil
	}
	return lags, nil
}

func (l *Loader) linksDue(head *kept.Head, now time.Time) bool {
	l.Links.mu.Lock()
	defer l.Links.mu.Unlock()
	return l.Links.due(head, now)
}
