package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

const (
	keptPage     = 1000                   // findings of a reading that are passed on at once
	keptPause    = 250 * time.Millisecond // between two looks at a reading that grows
	keptPatience = 10 * time.Second       // for which a reading may stand still while the capture grows
	endPatience  = 2 * time.Second        // the same when nobody is expected to go on with it
	poolFindings = 50_000                 // how many findings there may be so that a filter which asks for them begins there
)

// Why a reading is not used any more, beside damage.
var (
	errStandsStill = errors.New("what judging came to is not written down any more")
	errNotWhole    = errors.New("what judging came to was not written down to the end")
)

// A keptReading is the reading of the capture as long as it is believed, and which exchanges have gone on since it was
// written. It may be asked by several goroutines at once.
type keptReading struct {
	of   atomic.Pointer[kept.Reading] // nil if there is none
	wake chan struct{}                // holds a value when there is something to look at

	making <-chan struct{} // closed when this process does not go on with the reading; nil if it never did

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

func newKeptReading(r *kept.Reading) *keptReading {
	k := &keptReading{wake: make(chan struct{}, 1), ahead: make(map[uint64]change)}
	k.of.Store(r)
	return k
}

func (k *keptReading) reading() *kept.Reading { return k.of.Load() }

// isMade reports whether this process goes on with the reading.
func (k *keptReading) isMade() bool {
	select {
	case <-k.making:
		return false
	default:
		return k.making != nil
	}
}

// letGo says that the reading is not to be used, unless that is because the inspector ends.
func (k *keptReading) letGo(ctx context.Context, why error) {
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

func (k *keptReading) why() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *keptReading) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// changed says that exchanges have new steps.
func (k *keptReading) changed(list map[uint64]change) {
	if len(list) == 0 || k.reading() == nil {
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

// behind reports whether an exchange has steps that the reading may not know.
func (k *keptReading) behind(seq uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ahead := k.ahead[seq]
	return ahead
}

// caughtUp returns the exchanges that the reading knows by now as they are, in order, and since when it has not known
// the end of another one; zero if there is none.
func (k *keptReading) caughtUp(arrival uint64) (seqs []uint64, since time.Time, left int) {
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

// row returns the row of an exchange; nil if there is none, or none that says how the exchange is now.
func (k *keptReading) row(ctx context.Context, seq uint64) *kept.Row {
	r := k.reading()
	if r == nil || k.behind(seq) {
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

// whole reports whether there is a reading that has a row of each exchange.
func (k *keptReading) whole() bool {
	r := k.reading()
	return r != nil && r.Head().Ended
}

// findingsOf returns the findings of an exchange, as far as the reading knows them.
func (k *keptReading) findingsOf(ctx context.Context, seq uint64) []analyzer.Finding {
	r := k.reading()
	if r == nil {
		return nil
	}
	row, err := r.Row(ctx, seq)
	var found []analyzer.Finding
	if err == nil {
		found, err = r.FindingsOf(ctx, row)
	}
	if err != nil && !errors.Is(err, capture.ErrDamagedEntry) || err != nil && r.Head().Ended {
		k.letGo(ctx, err)
	}
	return found
}

// relayKept passes on what a reading says, in place of an engine that judges the capture, until the inspector ends: then
// it returns false. Where the reading is let go, an engine is there for the whole capture.
func (j *judgeRun) relayKept() bool {
	f := keptFollower{judgeRun: j}
	err := f.follow()
	if j.ctx.Err() != nil {
		return false
	}
	j.kept.letGo(j.ctx, err)
	j.observed.bySelf()
	j.engine, j.next, j.found, j.restarted = j.newEngine(), 1, nil, false
	return j.send(judged{restarted: true, behind: true, lost: fmt.Sprintf("%v; the capture is judged anew", err)})
}

// A keptFollower passes on what a reading says.
type keptFollower struct {
	*judgeRun
	told    bool // something was
	next    uint64
	version uint64
	ended   bool
	moved   time.Time // when the reading was seen to grow last
	covered []uint64  // exchanges that have other rows since it was told last
}

// follow returns why the reading cannot be used any more.
func (f *keptFollower) follow() error {
	f.moved = time.Now()
	for f.ctx.Err() == nil {
		r := f.kept.reading()
		if r == nil {
			return f.kept.why()
		}
		if err := f.tell(r); err != nil {
			return err
		}
		if err := f.wait(r); err != nil {
			return err
		}
	}
	return f.ctx.Err()
}

// tell passes on what is new.
func (f *keptFollower) tell(r *kept.Reading) error {
	head := r.Head()
	info, err := f.src.Info(f.ctx)
	if err != nil {
		return err
	}
	news := judged{next: head.Arrival + 1, behind: true, reading: true}
	if head.Version < f.version || head.Ended && !f.ended { // what was found provisionally may be replaced
		news.restarted, f.next = f.told, 0
	}
	f.told, f.version, f.ended = true, head.Version, head.Ended
	result, err := r.Result(f.ctx)
	switch {
	case err == nil:
		news.counts = result.Counts
		f.observed.fromReading(result, head.Ended)
	case !errors.Is(err, kept.ErrNone) || head.Ended:
		return err
	}
	for found, err := range r.Findings(f.ctx, f.next) {
		if err != nil {
			return err
		}
		if found.Place.Exchange > info.Exchanges {
			if info, err = f.src.Info(f.ctx); err != nil {
				return err
			}
		}
		if found.Place.Exchange > info.Exchanges {
			return fmt.Errorf("%w: a finding in exchange %d of %d", capture.ErrDamagedEntry, found.Place.Exchange, info.Exchanges)
		}
		f.next = found.Number + 1
		if news.findings = append(news.findings, *found.Finding); len(news.findings) < keptPage {
			continue
		}
		if !f.send(news) {
			return f.ctx.Err()
		}
		news.findings, news.restarted = nil, false
	}
	if err := f.readLinks(false); err != nil {
		return err
	}
	if head.Ended && !info.Live {
		news.next = info.Arrivals + 1
	}
	news.behind, news.reading, news.rows = result == nil, false, f.covered
	news.ended = head.Ended
	f.covered = nil
	if !f.send(news) {
		return f.ctx.Err()
	}
	return nil
}

// wait waits until the reading has grown.
func (f *keptFollower) wait(r *kept.Reading) error {
	quiet := false
	for {
		var pause <-chan time.Time // for ever, where nothing can come by itself
		if !quiet || !r.Head().Ended {
			pause = time.After(keptPause)
		}
		select {
		case <-pause:
		case <-f.kept.wake:
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
		if f.kept.reading() == nil {
			return f.kept.why()
		}
		grown, err := r.Refresh(f.ctx)
		if err != nil {
			return err
		}
		if grown {
			f.moved = time.Now()
		}
		head := r.Head()
		covered, since, left := f.kept.caughtUp(head.Arrival)
		f.covered, quiet = append(f.covered, covered...), left == 0
		if grown || len(covered) > 0 {
			return nil
		}
		if err := f.standsStill(head.Ended, since); err != nil {
			return err
		}
	}
}

// standsStill returns an error where nobody goes on with the reading although there is something to judge. Since is since
// when the end of an exchange is not known to it.
func (f *keptFollower) standsStill(ended bool, since time.Time) error {
	now := time.Now()
	patience := keptPatience
	if ended {
		patience = endPatience
	}
	if !since.IsZero() && now.Sub(since) >= patience && now.Sub(f.moved) >= patience {
		return errStandsStill
	}
	if ended || now.Sub(f.moved) < endPatience || f.kept.isMade() {
		return nil
	}
	info, err := f.src.Info(f.ctx)
	if err == nil && !info.Live {
		return errNotWhole
	}
	return err
}

// deciding returns those exchanges of a sorted list that match a filter, as their rows tell. Those whose rows do not are
// read.
func (l *loader) deciding(f *filter.Filter, seqs []uint64, found map[uint64][]analyzer.Finding) ([]uint64, error) {
	var chosen, unsure []uint64
	mine := make(map[uint64][]analyzer.Finding)
	marks := l.notes.Now()
	for _, seq := range seqs {
		row := l.kept.row(l.ctx, seq)
		if row == nil {
			if !l.kept.whole() || l.kept.behind(seq) {
				unsure, mine[seq] = append(unsure, seq), found[seq]
			}
			continue
		}
		facts := kept.Facts{
			Row: row, Workflow: l.links.index.Of(seq).Workflow, Marked: marks.Of(seq, row.ID).Marked,
		}
		switch match, certain := facts.Decide(f); {
		case !certain:
			unsure = append(unsure, seq)
			if len(row.Found) > 0 && f.Asks("rule", "severity", "side") {
				mine[seq] = l.kept.findingsOf(l.ctx, seq)
			}
		case match:
			chosen = append(chosen, seq)
		}
	}
	if len(unsure) == 0 {
		return chosen, nil
	}
	if err := l.needCards(); err != nil {
		return nil, err
	}
	_, err := l.each(unsure, 0, time.Now().Add(time.Hour), func(seq uint64, x *capture.Exchange) {
		if x != nil && l.matches(f, x, mine) {
			chosen = append(chosen, seq)
		}
	})
	slices.Sort(chosen)
	return chosen, err
}

// scanRows tests exchanges by their rows, from the newest of those before one to the oldest, for a while: all of them, or
// those of a sorted list.
func (l *loader) scanRows(
	ticket uint64, f *filter.Filter, list []uint64, all bool, below uint64, found map[uint64][]analyzer.Finding,
) scanned {
	answer := scanned{ticket: ticket, from: below, below: below}
	var pages [][]uint64 // of matches, the newest first
	for end := time.Now().Add(batchTime / 2); answer.from > 1; {
		page, from := pageBefore(list, all, answer.from)
		matches, err := l.deciding(f, page, found)
		if answer.err = err; err != nil {
			break
		}
		pages = append(pages, matches)
		answer.from = from
		if time.Now().After(end) || l.ctx.Err() != nil {
			break
		}
	}
	slices.Reverse(pages)
	answer.matches = slices.Concat(pages...)
	return answer
}

// pageBefore returns the last exchanges before one, in order, and the number from which on nothing is left out: all, or
// those of a sorted list.
func pageBefore(list []uint64, all bool, below uint64) (page []uint64, from uint64) {
	if !all {
		i, _ := slices.BinarySearch(list, below)
		page = list[max(i-scanPage, 0):i]
		if i <= scanPage {
			return page, 1
		}
		return page, page[0]
	}
	from = (below-2)/scanPage*scanPage + 1 // rows stand together so
	for seq := from; seq < below; seq++ {
		page = append(page, seq)
	}
	return page, from
}

// withFindings returns the exchanges with findings that a filter needs; false if it can do without, or if there are too
// many to begin with them.
func withFindings(ctx context.Context, r *kept.Reading, f *filter.Filter) (pool []uint64, ok bool, err error) {
	needs := f.Part("rule", "severity", "side")
	if head := r.Head(); needs == nil || !head.Ended || head.Findings > poolFindings {
		return nil, false, nil
	}
	seen := make(map[uint64]bool)
	for found, err := range r.Findings(ctx, 0) {
		if err != nil {
			return nil, false, err
		}
		row := &kept.Row{Found: []kept.Found{{
			Rule: found.Rule.ID, Also: found.Also, Severity: found.Severity, Side: found.Side,
		}}}
		if match, _ := (kept.Facts{Row: row}).Decide(needs); match {
			seen[found.Place.Exchange] = true
		}
	}
	return sortedKeys(seen), true, nil
}
