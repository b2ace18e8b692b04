package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/tui"
)

// How judging shares the machine with the traffic that it judges.
const (
	judgeSlice = 300 * time.Microsecond // of judging at a time
	judgeNap   = 50 * time.Microsecond  // after a slice, where all processors are busy: who waits for one gets it then
	judgeRest  = 10 * time.Millisecond  // after a slice, while there is no time to spare; leaves 3 % of a processor

	judgeQueue = 1 << 20 // bytes that wait to be recorded or stored, from which on there is no time to spare

	judgePatience = time.Second // after which a recording that ends says that it waits for its verdict

	behindTold = 1_000  // exchanges that judging is behind when the user is told
	behindMost = 50_000 // exchanges that it may be behind because it rests
	stepsEach  = 16     // so many steps of a stream count as one exchange
)

// judge follows what this recording adds to the capture, as any other reader would, until it has ended. It falls behind
// rather than take the processor from the traffic.
func (r *recording) judge(o recordingOptions) {
	src := &addition{Source: r.store, after: r.store.Position(), pace: r.pace}
	each, options := o.onFinding, o.keys
	if r.verdicts != nil {
		src.shown = &shown{verdicts: r.verdicts, stored: r.store.Committed}
		each = func(f analyzer.Finding) {
			o.onFinding(f)
			r.verdicts.Found(f)
		}
		options = append(slices.Clip(options), func(e *analyzer.Engine) { src.shown.engine = e })
	}
	result, err := analyzer.Follow(context.Background(), o.rules, src, each, options...)
	if r.verdicts != nil && result != nil {
		r.verdicts.Ended(result.Counts, err)
	} else if r.verdicts != nil {
		r.verdicts.Ended(analyzer.Counts{}, err)
	}
	r.judged <- judgement{result, err}
}

// verdict waits for the rules to come to the end of what was stored.
func (r *recording) verdict() judgement {
	select {
	case j := <-r.judged:
		return j
	case <-time.After(r.patience):
	}
	if r.onBehind != nil {
		left := analyzer.Plural(r.pace.exchanges(), "exchange")
		r.onBehind(fmt.Sprintf("all is recorded; %s left to judge before the verdict", left))
	}
	return <-r.judged
}

// newPace returns the pace of judging a recording.
func (r *recording) newPace() *judgePace {
	machine := newMachine()
	p := &judgePace{
		hurried: make(chan struct{}),
		pressed: func() bool {
			waiting, _ := r.recorder.Waiting()
			return waiting+int64(r.store.Waiting()) > judgeQueue || machine.full(r.recorder.Stats().Bytes)
		},
		crowded: machine.crowded,
		stored:  r.store.Committed,
		told: func(l lag) {
			text := fmt.Sprintf("judging is %v behind, since traffic goes first; it catches up, at the end at the latest", l)
			if r.onBehind != nil {
				r.onBehind(text)
			}
			if r.verdicts != nil {
				r.verdicts.Notice(text)
			}
		},
	}
	p.seq.Store(r.store.Position().Seq)
	return p
}

// A lag is how far judging is behind what is stored.
type lag struct{ exchanges, steps uint64 }

// weight is the lag in exchanges, where the events of a stream count too.
func (l lag) weight() uint64 { return max(l.exchanges, l.steps/stepsEach) }

func (l lag) String() string {
	if l.exchanges >= l.steps/stepsEach {
		return analyzer.Plural(l.exchanges, "exchange")
	}
	return analyzer.Plural(l.steps, "event")
}

// A judgePace says when judging rests. It is for the goroutine that judges, but for hurry.
type judgePace struct {
	pressed func() bool          // traffic passes, and there is no time to spare
	crowded func() bool          // somebody may wait for a processor
	stored  func() bolt.Position // how far judging could be
	told    func(lag)            // called once, when judging is far behind
	hurried chan struct{}        // closed when there is no traffic to go first any more

	began time.Time     // the slice
	seq   atomic.Uint64 // the last exchange of which something was judged
	timer *time.Timer
	said  bool
}

// hurry ends all rests. It is called once.
func (p *judgePace) hurry() { close(p.hurried) }

// begin begins a slice.
func (p *judgePace) begin() { p.began = time.Now() }

// judged is called for each step that was judged, and rests if it is time to.
func (p *judgePace) judged(s *capture.Step) {
	if s.Seq > p.seq.Load() {
		p.seq.Store(s.Seq)
	}
	if time.Since(p.began) < judgeSlice || p.isHurried() {
		return
	}
	stored := p.stored().Arrival
	l := lag{p.exchanges(), stored - min(s.Arrival, stored)} // what is stored is read before that is told
	if !p.said && l.weight() >= behindTold {
		p.said = true
		p.told(l)
	}
	switch {
	case p.pressed() && l.weight() < behindMost:
		p.rest(judgeRest)
	case p.crowded():
		p.rest(judgeNap)
	}
	p.begin()
}

func (p *judgePace) isHurried() bool {
	select {
	case <-p.hurried:
		return true
	default:
		return false
	}
}

// exchanges is how many exchanges are stored and were not judged. Anybody may ask.
func (p *judgePace) exchanges() uint64 {
	judged, stored := p.seq.Load(), p.stored().Seq
	return stored - min(judged, stored)
}

func (p *judgePace) rest(d time.Duration) {
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	} else {
		p.timer.Reset(d)
	}
	select {
	case <-p.timer.C:
	case <-p.hurried:
	}
}

// An addition is what a recording adds to a capture, as a source of which only the steps can be followed: those after a
// position.
type addition struct {
	capture.Source
	after bolt.Position
	pace  *judgePace
	shown *shown // nil if nobody looks
}

// Wait implements capture.Source. What an earlier recording left in the capture is nothing to come back for: Steps does
// not yield it.
func (a *addition) Wait(ctx context.Context, from uint64) error {
	return a.Source.Wait(ctx, max(from, a.after.Arrival+1))
}

// Steps implements capture.Source. What an earlier recording left in the capture is not read.
func (a *addition) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		from = max(from, a.after.Arrival+1)
		a.pace.begin()
		a.shown.begin(from - 1)
		for s, err := range a.Source.Steps(ctx, from) {
			if !yield(s, err) {
				return
			}
			a.shown.judged(&s)
			a.pace.judged(&s)
		}
		a.shown.end()
	}
}

// showPause is how often the inspector is told how far judging is while there is more to judge.
const showPause = 100 * time.Millisecond

// A shown tells the inspector how far judging is. It is for the goroutine that judges; a nil one tells nobody.
type shown struct {
	verdicts *tui.Verdicts
	engine   *analyzer.Engine // that judges
	stored   func() bolt.Position

	arrival uint64    // the last step that was judged
	told    time.Time // or, if nothing was told since, the begin of the reading
	behind  bool      // something was told since
}

// begin begins to read after a step.
func (s *shown) begin(arrival uint64) {
	if s != nil {
		s.arrival, s.told, s.behind = arrival, time.Now(), false
	}
}

func (s *shown) judged(step *capture.Step) {
	if s == nil {
		return
	}
	s.arrival = step.Arrival
	if now := time.Now(); now.Sub(s.told) >= showPause {
		s.told, s.behind = now, true
		s.verdicts.Judged(s.arrival, s.engine.Counts(), true)
	}
}

// end comes after the last step that was stored at the begin. If it took long to get there, more may wait.
func (s *shown) end() {
	if s != nil {
		s.verdicts.Judged(s.arrival, s.engine.Counts(), s.behind && s.arrival < s.stored().Arrival)
	}
}
